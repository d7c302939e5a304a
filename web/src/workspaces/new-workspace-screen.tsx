import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api, enterWorkspace, inWorkspace } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { CenteredPage, inlineLink } from '../login/centered-page.tsx'
import { signOut } from '../login/sign-out.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'
import { suggestKey } from './team-key.ts'

const RestoreWorkspace = lazy(async () => ({ default: (await import('./restore-workspace.tsx')).RestoreWorkspace }))

/** Creates a workspace with its first team, because issue IDs start with a team key. */
export function NewWorkspaceScreen() {
  const { user, workspaces } = useMe()
  const [restoring, setRestoring] = useState(false)
  const [name, setName] = useState('')
  const [team, setTeam] = useState('')
  const [typedKey, setTypedKey] = useState<string | null>(null)
  const [createdId, setCreatedId] = useState<string | null>(null)
  const key = typedKey ?? suggestKey(team)
  const form = useForm(async () => {
    // If only the team fails, a retry reuses the workspace.
    const id = createdId ?? (await api.createWorkspace({ name })).id
    setCreatedId(id)
    await api.createTeam({ name: team, key }, inWorkspace(id))
    enterWorkspace(id)
    location.assign('/')
  }, ['name', 'key'])
  const footer =
    workspaces.length > 0 ? (
      <Link to="/issues" className={inlineLink}>
        Back to your issues
      </Link>
    ) : (
      <>
        <p>Invited? Open the link in your invitation instead.</p>
        <p className="mt-2">
          You are signed in as {user.email}.{' '}
          <button type="button" className={inlineLink} onClick={() => void signOut('/sign-in')}>
            Sign out
          </button>
        </p>
      </>
    )
  return (
    <CenteredPage
      title={restoring ? 'Restore a workspace' : 'Create a workspace'}
      hint={
        restoring
          ? 'From an archive that was exported here or on another instance.'
          : 'A workspace contains the teams, issues and projects of your company.'
      }
      footer={
        <>
          <p className="mb-2">
            <button type="button" className={inlineLink} onClick={() => setRestoring(!restoring)}>
              {restoring ? 'Create an empty workspace' : 'Restore from an archive'}
            </button>
          </p>
          {footer}
        </>
      }
    >
      {restoring ? (
        <Suspense>
          <RestoreWorkspace />
        </Suspense>
      ) : (
        <form onSubmit={form.submit} className="space-y-4">
          <Field label="Workspace name" error={createdId ? undefined : form.errors.name}>
            <Input
              required
              autoFocus
              disabled={createdId !== null}
              value={name}
              onChange={(event) => setName(event.target.value)}
              placeholder="Harbor Coffee"
            />
          </Field>
          <div className="grid grid-cols-[1fr_96px] gap-3">
            <Field label="First team" error={createdId ? form.errors.name : undefined}>
              <Input
                required
                value={team}
                onChange={(event) => setTeam(event.target.value)}
                placeholder="Engineering"
              />
            </Field>
            <Field label="Key" error={form.errors.key}>
              <Input
                required
                value={key}
                maxLength={6}
                className="font-mono"
                onChange={(event) => setTypedKey(event.target.value.toUpperCase())}
                placeholder="ENG"
              />
            </Field>
          </div>
          <p className="text-xs text-ink-3">The key is the prefix for issue IDs, such as {key || 'ENG'}-1.</p>
          {form.problem && <Notice tone="bad">{form.problem}</Notice>}
          <Button type="submit" look="primary" className="w-full" busy={form.busy}>
            Create workspace
          </Button>
        </form>
      )}
    </CenteredPage>
  )
}
