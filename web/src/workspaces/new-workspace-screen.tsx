import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, enterWorkspace, inWorkspace } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Front, frontLink } from '../login/front.tsx'
import { signOut } from '../login/sign-out.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'
import { keyOf } from './team-key.ts'

/** A workspace and its first team, because issues need one to have a code. */
export function NewWorkspaceScreen() {
  const { user, workspaces } = useMe()
  const [name, setName] = useState('')
  const [team, setTeam] = useState('')
  const [ownKey, setOwnKey] = useState<string | null>(null)
  const [made, setMade] = useState<string | null>(null)
  const key = ownKey ?? keyOf(team)
  const form = useForm(async () => {
    // A team that was refused does not make a second workspace.
    const id = made ?? (await api.createWorkspace({ name })).id
    setMade(id)
    await api.createTeam({ name: team, key }, inWorkspace(id))
    enterWorkspace(id)
    location.assign('/')
  }, ['name', 'key'])
  return (
    <Front
      title="Create a workspace"
      hint="Everything your company works on, and everybody who works on it."
      footer={
        workspaces.length > 0 ? (
          <Link to="/issues" className={frontLink}>
            Back to your issues
          </Link>
        ) : (
          <>
            <p>Were you invited? Open the link in your invitation instead.</p>
            <p className="mt-2">
              You are signed in as {user.email}.{' '}
              <button type="button" className={frontLink} onClick={() => void signOut('/sign-in')}>
                Sign out
              </button>
            </p>
          </>
        )
      }
    >
      <form onSubmit={form.submit} className="space-y-4">
        <Field label="Name of the workspace" error={made ? undefined : form.errors.name}>
          <Input
            required
            autoFocus
            disabled={made !== null}
            value={name}
            onChange={(event) => setName(event.target.value)}
            placeholder="Harbor Coffee"
          />
        </Field>
        <div className="grid grid-cols-[1fr_96px] gap-3">
          <Field label="Your first team" error={made ? form.errors.name : undefined}>
            <Input required value={team} onChange={(event) => setTeam(event.target.value)} placeholder="Engineering" />
          </Field>
          <Field label="Key" error={form.errors.key}>
            <Input
              required
              value={key}
              maxLength={6}
              className="font-mono"
              onChange={(event) => setOwnKey(event.target.value.toUpperCase())}
              placeholder="ENG"
            />
          </Field>
        </div>
        <p className="text-xs text-ink-3">The key begins the code of each issue, such as {key || 'ENG'}-1.</p>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy}>
          Create workspace
        </Button>
      </form>
    </Front>
  )
}
