import type { Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ChevronRight, Plus, Users } from 'lucide-react'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { teamsQuery } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Page, Rows } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Empty, Notice } from '../ui/states.tsx'
import { suggestKey } from './team-key.ts'

export function TeamsScreen() {
  const { isManager } = useMe()
  const teams = useQuery(teamsQuery)
  const [creating, setCreating] = useState(false)
  const create = isManager && (
    <Button look="primary" icon={Plus} onClick={() => setCreating(true)}>
      New team
    </Button>
  )
  return (
    <Page title="Teams" width="reading" actions={create}>
      <Loaded query={teams}>{(teams) => <Teams teams={teams} />}</Loaded>
      <NewTeam open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}

const Teams = ({ teams }: { teams: Team[] }) =>
  teams.length === 0 ? (
    <Empty icon={Users} title="No teams yet">
      A team has its own issues, with IDs such as ENG-12, and its own guidance for agents.
    </Empty>
  ) : (
    <Rows label="Teams">
      {teams.map(({ id, key, name, guidance, repositories }) => (
        <li key={id}>
          <Link
            to="/settings/teams/$teamId"
            params={{ teamId: id }}
            className="flex items-center gap-3 px-4 py-2.5 hover:bg-hover"
          >
            <span className="w-14 shrink-0 font-mono text-xs text-ink-2">{key}</span>
            <span className="min-w-0 flex-1 truncate font-medium">
              <bdi>{name}</bdi>
            </span>
            <span className="text-xs text-ink-3 max-sm:hidden">
              {guidance ? 'has guidance' : 'no guidance'} ·{' '}
              {repositories.length === 1 ? '1 repository' : `${repositories.length} repositories`}
            </span>
            <ChevronRight size={14} aria-hidden className="text-ink-3" />
          </Link>
        </li>
      ))}
    </Rows>
  )

function NewTeam({ open, onClose }: { open: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [typedKey, setTypedKey] = useState<string | null>(null)
  const key = typedKey ?? suggestKey(name)
  const form = useForm(async () => {
    const team = await api.createTeam({ name, key })
    await queries.invalidateQueries({ queryKey: ['workspace', 'teams'] })
    onClose()
    await navigate({ to: '/settings/teams/$teamId', params: { teamId: team.id } })
  }, ['name', 'key'])
  return (
    <Dialog open={open} onClose={onClose} title="New team" size="sm">
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <Field label="Name" error={form.errors.name}>
          <Input required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field
          label="Key"
          hint={`Prefix for issue IDs, such as ${key || 'ENG'}-1. It cannot be changed later.`}
          error={form.errors.key}
        >
          <Input
            required
            maxLength={6}
            className="w-28 font-mono"
            value={key}
            onChange={(event) => setTypedKey(event.target.value.toUpperCase())}
          />
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            Create team
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
