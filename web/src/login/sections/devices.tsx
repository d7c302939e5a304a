import type { LoginRecord } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries, readAll } from '../../data/api.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Rows, Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Time } from '../../ui/time.tsx'
import { deviceName } from '../device-name.ts'

const methods: Record<NonNullable<LoginRecord['method']>, string> = {
  password: 'password',
  sso: 'single sign-on',
  passkey: 'passkey',
  cli: 'baton command',
  sign_up: 'sign-up',
}

const reread = () => queries.invalidateQueries({ queryKey: ['logins'] })

/** Where the user is signed in. */
export function DevicesSection() {
  const logins = useQuery({ queryKey: ['logins'], queryFn: () => readAll('listLogins', undefined, 100) })
  const [ending, setEnding] = useState<LoginRecord | 'others' | null>(null)
  const others = (logins.data ?? []).some(({ current }) => !current)
  return (
    <Section
      title="Devices"
      hint="Where you are signed in."
      actions={others && <Button onClick={() => setEnding('others')}>Sign out everywhere else</Button>}
    >
      <Loaded query={logins} rows={2}>
        {(logins) => (
          <Rows label="Devices">
            {logins.map((login) => (
              <li key={login.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
                <div className="min-w-0 flex-1">
                  <p className="truncate font-medium" title={login.client ?? undefined}>
                    <bdi>{deviceName(login.client)}</bdi>
                    {login.current && <span className="ml-2 text-xs font-normal text-ok-ink">This device</span>}
                  </p>
                  <p className="text-xs text-ink-2">
                    {login.method && `${methods[login.method]}${login.provider_id ? ` (${login.provider_id})` : ''} · `}
                    {login.network && `${login.network} · `}
                    signed in <Time at={login.created_at} />, last used <Time at={login.last_used_at} />
                  </p>
                </div>
                {!login.current && (
                  <Button
                    size="sm"
                    aria-label={`Sign out ${deviceName(login.client)}`}
                    onClick={() => setEnding(login)}
                  >
                    Sign out
                  </Button>
                )}
              </li>
            ))}
          </Rows>
        )}
      </Loaded>
      <Confirm
        open={ending !== null}
        onClose={() => setEnding(null)}
        title={
          ending === 'others'
            ? 'Sign out everywhere else?'
            : `Sign out ${isolated(deviceName(ending?.client ?? null))}?`
        }
        action="Sign out"
        onConfirm={async () => {
          if (ending === 'others') await api.endOtherLogins()
          else if (ending) await api.endLogin({ login_id: ending.id })
          await reread()
        }}
      >
        <p>{ending === 'others' ? 'All devices but this one' : 'It'} will have to sign in again.</p>
      </Confirm>
    </Section>
  )
}
