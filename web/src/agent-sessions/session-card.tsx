import type { AgentSession } from '@baton/protocol'
import { Link } from '@tanstack/react-router'
import { usePeople } from '../workspaces/queries.ts'
import { StatePill } from './words.tsx'

/** A session in a feed. */
export const SessionCard = ({ session }: { session: AgentSession }) => (
  <article className="flex h-9 items-center gap-2 rounded-lg border bg-surface px-3">
    <StatePill session={session} />
    <Link to="/agent-session/$sessionId" params={{ sessionId: session.id }} className="font-medium">
      {usePeople().get(session.app_user_id)?.display_name ?? 'An agent'}
    </Link>
  </article>
)
