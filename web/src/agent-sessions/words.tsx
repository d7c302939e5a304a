import type { AgentSession, Choice, EndReason, SessionState } from '@baton/protocol'
import { Pill, type Tone } from '../ui/pill.tsx'

interface Words {
  label: string
  tone: Tone
  /** The agent is at it. */
  busy?: boolean
}

const states: Record<SessionState, Words> = {
  pending: { label: 'Waiting for the agent', tone: 'info', busy: true },
  active: { label: 'Working', tone: 'agent', busy: true },
  awaitingInput: { label: 'Needs you', tone: 'accent' },
  error: { label: 'Failed', tone: 'bad' },
  complete: { label: 'Done', tone: 'ok' },
  stale: { label: 'Silent', tone: 'warn' },
  stopping: { label: 'Stopping', tone: 'warn', busy: true },
}

export const endReasons: Record<EndReason, string> = {
  stopped: 'Stopped',
  undelegated: 'Ended: the issue was taken back',
  uninstalled: 'Ended: the agent was removed',
  team_removed: 'Ended: the agent no longer reaches this',
  issue_deleted: 'Ended: what it was about was deleted',
}

/** How a session stands, in words and colour. */
export function wordsOf({
  state,
  ended_at,
  end_reason,
}: Pick<AgentSession, 'state' | 'ended_at' | 'end_reason'>): Words {
  if (ended_at) return { label: end_reason ? endReasons[end_reason] : 'Ended', tone: 'neutral' }
  return states[state]
}

/** Somebody else's own agent is in no list. It works for nobody but who asked. */
export const isOthers = (known: ReadonlyMap<string, Choice>, { app_user_id, ended_at }: AgentSession) =>
  known.size > 0 && !known.has(app_user_id) && !ended_at

/** What the agent of a session is called. */
export const agentName = (known: ReadonlyMap<string, Choice>, session: AgentSession) =>
  known.get(session.app_user_id)?.display_name ??
  (isOthers(known, session) ? `${session.creator.name}’s agent` : 'The agent')

export function StatePill({ session }: { session: Pick<AgentSession, 'state' | 'ended_at' | 'end_reason'> }) {
  const { label, tone, busy } = wordsOf(session)
  return (
    <Pill tone={tone} dot={busy ? 'pulsing' : 'still'}>
      {label}
    </Pill>
  )
}
