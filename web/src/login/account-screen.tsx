import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queries, readAll } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Choices, Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Page, Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/states.tsx'
import { chooseTheme, type Theme, useTheme } from '../ui/theme.ts'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { Profile } from './profile.tsx'

export function AccountScreen() {
  const { user } = useMe()
  const theme = useTheme()
  return (
    <Page title="Account" width="reading">
      <div className="flex items-center gap-4">
        <Avatar name={user.display_name} size={48} />
        <div className="min-w-0">
          <p className="truncate text-lg font-semibold">
            <bdi>{user.display_name}</bdi>
          </p>
          <p className="truncate text-ink-2">{user.email}</p>
        </div>
      </div>
      <Profile />
      <Choices<Theme>
        label="Theme"
        name="theme"
        value={theme}
        onChange={chooseTheme}
        choices={[
          { value: 'system', label: 'System' },
          { value: 'light', label: 'Light' },
          { value: 'dark', label: 'Dark' },
        ]}
      />
      <Password />
      <Programs />
    </Page>
  )
}

function Password() {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const form = useForm(async () => {
    await api.changePassword({ current_password: current, new_password: next })
    setCurrent('')
    setNext('')
    showToast('Password changed. You are signed out everywhere else.')
  }, ['current_password', 'new_password'])
  return (
    <Section title="Password" hint="Changing it signs you out everywhere else.">
      <form onSubmit={form.submit} className="max-w-sm space-y-3">
        <Field label="Current password" error={form.errors.current_password}>
          <Input
            type="password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
        <Field
          label="New password"
          hint={`At least ${limits.passwordMin} characters.`}
          error={form.errors.new_password}
        >
          <Input
            type="password"
            autoComplete="new-password"
            required
            value={next}
            onChange={(event) => setNext(event.target.value)}
          />
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" busy={form.busy}>
          Change password
        </Button>
      </form>
    </Section>
  )
}

/** Programs that act as the user. */
function Programs() {
  const programs = useQuery({
    queryKey: ['programs'],
    queryFn: () => readAll('listPrograms'),
  })
  const [disconnecting, setDisconnecting] = useState<{ id: string; name: string } | null>(null)
  return (
    <Section title="Connected programs" hint="Programs that act as you, such as MCP clients.">
      <Loaded query={programs} rows={2}>
        {(programs) =>
          programs.length === 0 ? (
            <p className="text-ink-3">
              None. To connect an MCP client, use the URL{' '}
              <code className="font-mono text-xs">{location.origin}/mcp</code>.
            </p>
          ) : (
            <Rows label="Connected programs">
              {programs.map(({ id, client_name, workspace, scopes, created_at, last_used_at }) => (
                <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
                  <div className="min-w-0 flex-1">
                    <p className="truncate font-medium">
                      <bdi>{client_name}</bdi>
                    </p>
                    <p className="text-xs text-ink-2">
                      <bdi>{workspace.name}</bdi> · {scopes.join(', ')} · connected <Time at={created_at} />
                      {last_used_at ? (
                        <>
                          , last used <Time at={last_used_at} />
                        </>
                      ) : (
                        ', never used'
                      )}
                    </p>
                  </div>
                  <Button size="sm" onClick={() => setDisconnecting({ id, name: client_name })}>
                    Disconnect
                  </Button>
                </li>
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Confirm
        open={disconnecting !== null}
        onClose={() => setDisconnecting(null)}
        title={`Disconnect ${isolated(disconnecting?.name)}?`}
        action="Disconnect"
        onConfirm={async () => {
          if (disconnecting) await api.endProgram({ program_id: disconnecting.id })
          await queries.invalidateQueries({ queryKey: ['programs'] })
        }}
      >
        <p>Its tokens stop working at once. You can connect it again later.</p>
      </Confirm>
    </Section>
  )
}
