import type { Passkey } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { rereadAccount } from '../../data/account.ts'
import { api, queries } from '../../data/api.ts'
import { instanceQuery } from '../../data/instance.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { isolated } from '../../ui/isolated.ts'
import { Rows, Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { sentence } from '../../ui/sentence.ts'
import { Notice } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { deviceName } from '../device-name.ts'
import { addPasskey } from '../passkey.ts'

const passkeysQuery = { queryKey: ['passkeys'], queryFn: async () => (await api.listPasskeys()).data }
const reread = () => Promise.all([queries.invalidateQueries({ queryKey: passkeysQuery.queryKey }), rereadAccount()])

/** Left out where the instance has no passkeys. */
export function PasskeysSection() {
  const { data: instance } = useQuery(instanceQuery)
  return instance?.passkeys ? <Passkeys /> : null
}

function Passkeys() {
  const passkeys = useQuery(passkeysQuery)
  const [removing, setRemoving] = useState<Passkey | null>(null)
  return (
    <Section title="Passkeys" hint="Sign in with the lock of a device: fingerprint, face or PIN.">
      <Loaded query={passkeys} rows={1}>
        {(passkeys) =>
          passkeys.length > 0 && (
            <Rows label="Passkeys">
              {passkeys.map((passkey) => (
                <li key={passkey.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
                  <div className="min-w-0 flex-1">
                    <p className="truncate font-medium">
                      <bdi>{passkey.name}</bdi>
                    </p>
                    <p className="text-xs text-ink-2">
                      added <Time at={passkey.created_at} />
                      {passkey.last_used_at ? (
                        <>
                          , last used <Time at={passkey.last_used_at} />
                        </>
                      ) : (
                        ', never used'
                      )}
                    </p>
                  </div>
                  <Button size="sm" aria-label={`Remove ${passkey.name}`} onClick={() => setRemoving(passkey)}>
                    Remove
                  </Button>
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
      <NewPasskey />
      <Confirm
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title={`Remove ${isolated(removing?.name)}?`}
        action="Remove"
        onConfirm={async () => {
          if (removing) await api.deletePasskey({ passkey_id: removing.id })
          await reread()
        }}
      >
        <p>It no longer signs you in. Delete it on your device too.</p>
      </Confirm>
    </Section>
  )
}

function NewPasskey() {
  const [name, setName] = useState(() => deviceName(navigator.userAgent).slice(0, limits.name))
  const form = useForm(async () => {
    await addPasskey(name)
    await reread()
    showToast('Passkey added')
  }, ['name'])
  return (
    <form onSubmit={form.submit} className="mt-3 max-w-sm space-y-3">
      <Field label="Name of the passkey" error={sentence(form.errors.name)}>
        <Input required maxLength={limits.name} value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button type="submit" busy={form.busy}>
        Add passkey
      </Button>
    </form>
  )
}
