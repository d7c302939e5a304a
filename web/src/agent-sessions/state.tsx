import type { AgentSession, Choice, EndReason, SessionState } from '@baton/protocol'
import { isolated } from '../ui/isolated.ts'
import { Pill, type Tone } from '../ui/pill.tsx'

interface StateLabel {
  label: string
  tone: Tone
  /** Whether the agent is working. */
  busy?: boolean
}

const states: Record<SessionState, StateLabel> = {
  pending: { label: 'Waiting for the agent', tone: 'info', busy: true },
  active: { label: 'Working', tone: 'agent', busy: true },
  awaitingInput: { label: 'Needs input', tone: 'accent' },
  error: { label: 'Failed', tone: 'bad' },
  complete: { label: 'Done', tone: 'ok' },
  stale: { label: 'Silent', tone: 'warn' },
  stopping: { label: 'Stopping', tone: 'warn', busy: true },
}

export const endReasons: Record<EndReason, string> = {
  stopped: 'Stopped',
  undelegated: 'Ended: delegation removed',
  uninstalled: 'Ended: agent uninstalled',
  team_removed: 'Ended: agent lost access',
  issue_deleted: 'Ended: issue deleted',
}

/** Label and colour of a session's state. */
export function stateOf({
  state,
  ended_at,
  end_reason,
}: Pick<AgentSession, 'state' | 'ended_at' | 'end_reason'>): StateLabel {
  if (ended_at) return { label: end_reason ? endReasons[end_reason] : 'Ended', tone: 'neutral' }
  return states[state]
}

/** Whether a person can stop the session here. A finished one has nothing to stop, although the API would end it. */
export const canStop = ({ state, ended_at }: Pick<AgentSession, 'state' | 'ended_at'>) =>
  !ended_at && !/^(stopping|complete|error)$/.test(state)

/** Whether this is another member's personal agent: those are not listed, and work only for their owner. */
export const isOthers = (known: ReadonlyMap<string, Choice>, { app_user_id, ended_at }: AgentSession) =>
  known.size > 0 && !known.has(app_user_id) && !ended_at

/** Display name of the session's agent. */
export const agentName = (known: ReadonlyMap<string, Choice>, session: AgentSession) =>
  known.get(session.app_user_id)?.display_name ??
  (isOthers(known, session) ? `${isolated(session.creator.name)}’s agent` : 'The agent')

export function StatePill({ session }: { session: Pick<AgentSession, 'state' | 'ended_at' | 'end_reason'> }) {
  const { label, tone, busy } = stateOf(session)
  return (
    <Pill tone={tone} dot={busy ? 'pulsing' : 'still'}>
      {label}
    </Pill>
  )
}
