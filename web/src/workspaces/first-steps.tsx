import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed, X } from 'lucide-react'
import { useState } from 'react'
import { installationsQuery } from '../data/agent-apps.ts'
import { instanceQuery } from '../data/instance.ts'
import { useMe } from '../data/me.ts'
import { webhooksQuery } from '../data/webhooks.ts'
import { invitationsQuery, membersQuery, teamsQuery, workspaceQuery } from '../data/workspaces.ts'
import { IconButton } from '../ui/button.tsx'

/** Managers of older workspaces know what they need. */
const shownForMs = 30 * 86_400_000

const keyOf = (workspaceId: string) => `baton.first-steps.${workspaceId}`

/** Steps to set up a new workspace, for managers. Hidden when all are done or after a dismissal in this browser. */
export function FirstSteps() {
  const { workspace } = useMe()
  const [isDismissed, setDismissed] = useState(
    () => !workspace || localStorage.getItem(keyOf(workspace.id)) === 'dismissed',
  )
  if (!workspace || isDismissed) return null
  const dismiss = () => {
    localStorage.setItem(keyOf(workspace.id), 'dismissed')
    setDismissed(true)
  }
  return <Steps onDismiss={dismiss} />
}

function useSteps() {
  const teams = useQuery(teamsQuery).data
  const members = useQuery(membersQuery).data
  const invitations = useQuery(invitationsQuery).data
  const installations = useQuery(installationsQuery).data
  const webhooks = useQuery(webhooksQuery).data
  if (!teams || !members || !invitations || !installations || !webhooks) return null
  return [
    { to: '/settings/teams', title: 'Create a team', hint: 'Issues belong to teams.', done: teams.length > 0 },
    {
      to: '/settings/members',
      title: 'Invite people',
      hint: 'Several at once, each with a link.',
      done: members.length > 1 || invitations.length > 0,
    },
    {
      to: '/settings/agent-apps',
      title: 'Install an agent',
      hint: 'It works on issues you delegate.',
      done: installations.length > 0,
    },
    {
      to: '/settings/webhooks',
      title: 'Add a webhook',
      hint: 'Sends events to your services.',
      done: webhooks.length > 0,
    },
  ] as const
}

function Steps({ onDismiss }: { onDismiss: () => void }) {
  const steps = useSteps()
  const { user } = useMe()
  const demo = useQuery(instanceQuery).data?.demo
  const createdAt = useQuery(workspaceQuery).data?.created_at
  if (demo?.email === user.email) return null
  if (!steps || !createdAt || Date.now() - Date.parse(createdAt) > shownForMs) return null
  const count = steps.filter(({ done }) => done).length
  if (count === steps.length) return null
  return (
    <section aria-label="First steps" className="shrink-0 border-b bg-surface px-4 py-2">
      <div className="flex items-center gap-2">
        <h2 className="font-semibold">First steps</h2>
        <span className="tabular flex-1 text-xs text-ink-3">
          {count} of {steps.length}
        </span>
        <IconButton label="Dismiss first steps" icon={X} onClick={onDismiss} />
      </div>
      <ol className="grid grid-cols-2 gap-1 lg:grid-cols-4">
        {steps.map(({ to, title, hint, done }) => (
          <li key={to}>
            <Link to={to} className="flex gap-2 rounded px-1.5 py-1 hover:bg-hover">
              {done ? (
                <CircleCheck size={16} className="mt-0.5 shrink-0 text-ok" aria-label="Done:" />
              ) : (
                <CircleDashed size={16} className="mt-0.5 shrink-0 text-ink-3" aria-label="To do:" />
              )}
              <span className="min-w-0">
                <span className="font-medium">{title}</span>
                <span className="block text-xs text-ink-2 max-sm:hidden">{hint}</span>
              </span>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}
