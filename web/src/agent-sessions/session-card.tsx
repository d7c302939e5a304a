import type { AgentSession } from '@baton/protocol'
import { StatePill } from './words.tsx'

/** A session in the feed of what it is about. */
export const SessionCard = ({ session }: { session: AgentSession }) => (
  <section aria-label="Agent session" className="rounded-lg border bg-surface p-3">
    <StatePill session={session} />
  </section>
)
