import type { AgentSession } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { sessionQuery } from '../data/agent-sessions.ts'
import { isBatonError } from '../data/api.ts'
import { projectQuery } from '../data/projects.ts'
import { Page } from '../ui/layout.tsx'
import { NotFound } from '../ui/not-found.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Failed, Skeletons } from '../ui/states.tsx'
import { useAgent } from './header.tsx'
import { SessionPanel } from './session-panel.tsx'

/** The page of one session. */
export function SessionScreen() {
  const { sessionId } = useParams({ from: '/person/inside/agent-session/$sessionId' })
  const { data, error, refetch } = useQuery(sessionQuery(sessionId))
  if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return <NotFound />
  if (data) return <SessionPage key={data.id} session={data} />
  return (
    <Page title="Agent session">{error ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons />}</Page>
  )
}

function SessionPage({ session }: { session: AgentSession }) {
  const agent = useAgent(session)
  const navigate = useNavigate()
  const place = usePlace(session)
  useCommands([
    {
      id: 'session.leave',
      title: place ? `Go to ${place.name}` : 'All agents',
      section: 'Agent session',
      keys: 'escape',
      run: () => void navigate({ to: place?.to ?? '/agents' }),
    },
  ])
  return (
    <Page
      title={
        <span className="flex min-w-0 items-center gap-2">
          {place && (
            <>
              <Link to={place.to} className="min-w-0 truncate hover:underline">
                <bdi>{place.name}</bdi> <span className="font-normal text-ink-2">{place.title}</span>
              </Link>
              <span aria-hidden className="text-ink-3">
                /
              </span>
            </>
          )}
          <span className="shrink-0 truncate">
            <bdi>{agent.name}</bdi>
          </span>
        </span>
      }
    >
      <div className="h-full bg-surface">
        <SessionPanel session={session} />
      </div>
    </Page>
  )
}

/** The issue or project of the session, and its path. */
function usePlace({ issue, comment }: AgentSession) {
  const projectId = issue ? null : (/\/project\/([^/#?]+)/.exec(comment?.url ?? '')?.[1] ?? null)
  const { data: project } = useQuery({ ...projectQuery(projectId ?? ''), enabled: projectId !== null })
  if (issue) return { to: `/issue/${issue.identifier}`, name: issue.identifier, title: issue.title }
  if (projectId) return { to: `/project/${projectId}`, name: project?.title ?? 'Project', title: '' }
  return null
}
