import type { Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { api, queries, readAll } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { membersQuery, usePeople } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { isolated } from '../ui/isolated.ts'
import { Rows, Section } from '../ui/layout.tsx'
import { usePicker } from '../ui/picker.tsx'
import { Pill } from '../ui/pill.tsx'
import { Skeletons } from '../ui/states.tsx'
import { showError } from '../ui/toast.tsx'

/** Members of the team, including agents installed for it. */
export function TeamMembers({ team }: { team: Team }) {
  const { user, isManager } = useMe()
  const pick = usePicker()
  const people = usePeople()
  const { data } = useQuery({
    queryKey: ['workspace', 'teams', team.id, 'members'],
    queryFn: () => readAll('listTeamMembers', { team_id: team.id }),
  })
  const memberIds = new Set(data?.map(({ id }) => id))
  const run = async (work: () => Promise<unknown>) => {
    try {
      await work()
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: ['workspace', 'teams', team.id] })
  }
  const add = (anchor: Element) =>
    pick(anchor, {
      title: 'Add member',
      options: async (query) =>
        (await queries.ensureQueryData(membersQuery))
          .filter(
            ({ id, display_name }) => !memberIds.has(id) && display_name.toLowerCase().includes(query.toLowerCase()),
          )
          .map(({ id, display_name }) => ({
            value: id,
            label: display_name,
            icon: <Avatar name={display_name} size={16} />,
          })),
      empty: 'No more members to add.',
      onPick: (id) => void run(() => api.addTeamMember({ team_id: team.id, user_id: id })),
    })
  return (
    <Section
      title="Members"
      actions={
        isManager && (
          <Button icon={Plus} onClick={(event) => add(event.currentTarget)}>
            Add member
          </Button>
        )
      }
    >
      {!data ? (
        <Skeletons rows={3} />
      ) : (
        <Rows label="Team members">
          {data.map(({ id, display_name, email }) => {
            const agent = people.get(id)?.user_kind === 'application'
            return (
              <li key={id} className="flex items-center gap-3 px-4 py-2">
                <Avatar name={display_name} agent={agent} src={people.get(id)?.avatar_url} size={20} />
                <span className="min-w-0 flex-1 truncate">
                  <bdi>{display_name}</bdi> <span className="text-xs text-ink-3">{email}</span>
                </span>
                {agent ? (
                  <Pill tone="agent">Agent</Pill>
                ) : (
                  (isManager || id === user.id) && (
                    <Button
                      size="sm"
                      look="quiet"
                      aria-label={id === user.id ? 'Leave team' : `Remove ${isolated(display_name)}`}
                      onClick={() => void run(() => api.removeTeamMember({ team_id: team.id, user_id: id }))}
                    >
                      {id === user.id ? 'Leave' : 'Remove'}
                    </Button>
                  )
                )}
              </li>
            )
          })}
          {data.length === 0 && <li className="px-4 py-3 text-ink-3">No members yet.</li>}
        </Rows>
      )}
    </Section>
  )
}
