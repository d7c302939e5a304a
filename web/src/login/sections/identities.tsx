import type { Account, Instance } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery, rereadAccount } from '../../data/account.ts'
import { api } from '../../data/api.ts'
import { instanceQuery } from '../../data/instance.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { useForm } from '../../ui/form.ts'
import { isolated } from '../../ui/isolated.ts'
import { Rows, Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Notice } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { openProvider, ssoProblem } from '../sso.ts'

type Providers = Instance['sso']['providers']
type Identity = Account['identities'][number]

/** Left out where the instance has no provider and the user no identity. */
export function IdentitiesSection() {
  const { data: instance } = useQuery(instanceQuery)
  const account = useQuery(accountQuery)
  const providers = instance?.sso.providers ?? []
  if (providers.length === 0 && !account.data?.identities.length) return null
  const problem = ssoProblem(new URLSearchParams(location.search).get('problem'))
  return (
    <Section title="Single sign-on" hint="Sign in with an account of another service.">
      {problem && <Notice tone="bad">{problem}</Notice>}
      <Loaded query={account} rows={1}>
        {({ identities }) => <Identities identities={identities} providers={providers} />}
      </Loaded>
    </Section>
  )
}

function Identities({ identities, providers }: { identities: Identity[]; providers: Providers }) {
  const [removing, setRemoving] = useState<Identity | null>(null)
  const nameOf = (id: string | undefined) => providers.find((provider) => provider.id === id)?.name ?? id ?? ''
  const others = providers.filter(({ id }) => !identities.some(({ provider_id }) => provider_id === id))
  return (
    <div className="space-y-3">
      {identities.length > 0 && (
        <Rows label="Identities">
          {identities.map((identity) => (
            <li key={identity.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
              <div className="min-w-0 flex-1">
                <p className="truncate font-medium">
                  <bdi>{nameOf(identity.provider_id)}</bdi>
                </p>
                <p className="truncate text-xs text-ink-2">
                  {identity.email && (
                    <>
                      <bdi>{identity.email}</bdi> ·{' '}
                    </>
                  )}
                  connected <Time at={identity.created_at} />
                </p>
              </div>
              <Button
                size="sm"
                aria-label={`Remove ${nameOf(identity.provider_id)}`}
                onClick={() => setRemoving(identity)}
              >
                Remove
              </Button>
            </li>
          ))}
        </Rows>
      )}
      {others.map(({ id, name }) => (
        <Connect key={id} id={id} name={name} />
      ))}
      <Confirm
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title={`Remove ${isolated(nameOf(removing?.provider_id))}?`}
        action="Remove"
        onConfirm={async () => {
          if (removing) await api.deleteIdentity({ identity_id: removing.id })
          await rereadAccount()
        }}
      >
        <p>It no longer signs you in. Devices that are signed in with it are signed out.</p>
      </Confirm>
    </div>
  )
}

function Connect({ id, name }: { id: string; name: string }) {
  const form = useForm(() => openProvider(id, { purpose: 'link', next: '/settings/account' }))
  return (
    <div className="space-y-2">
      <Button className="max-w-full" busy={form.busy} onClick={() => void form.submit()}>
        <span className="truncate">Connect {isolated(name)}</span>
      </Button>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
    </div>
  )
}
