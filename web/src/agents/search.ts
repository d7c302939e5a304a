import type { AgentSession } from '@baton/protocol'

/** Groups of sessions, most urgent first. */
export const statuses = ['waiting', 'working', 'stuck', 'done'] as const
export type Status = (typeof statuses)[number]

export const statusLabels: Record<Status, string> = {
  waiting: 'Needs input',
  working: 'Working',
  stuck: 'Silent or failed',
  done: 'Done',
}

export function statusOf({ state, ended_at, unresponsive_since }: AgentSession): Status {
  if (ended_at) return 'done'
  switch (state) {
    case 'awaitingInput':
      return 'waiting'
    case 'stale':
    case 'error':
      return 'stuck'
    case 'complete':
      return 'done'
    default:
      return unresponsive_since ? 'stuck' : 'working'
  }
}

/** The filters of the agents screen, kept in the URL. */
export interface AgentSearch {
  agent?: string
  status?: Status
  mine?: true
}

export function parseAgentSearch(search: Record<string, unknown>): AgentSearch {
  const status = statuses.find((one) => one === search.status)
  return {
    ...(typeof search.agent === 'string' && { agent: search.agent }),
    ...(status && { status }),
    ...(search.mine === true && { mine: true }),
  }
}
