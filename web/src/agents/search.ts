import type { AgentSession } from '@baton/protocol'

/** What a person has to do about a session, most urgent first. */
export const standings = ['waiting', 'working', 'stuck', 'done'] as const
export type Standing = (typeof standings)[number]

export const standingWords: Record<Standing, string> = {
  waiting: 'Waiting for a person',
  working: 'Working',
  stuck: 'Silent or failed',
  done: 'Done',
}

export function standingOf({ state, ended_at, unresponsive_since }: AgentSession): Standing {
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

/** What the agents screen shows, as its address has it. */
export interface AgentSearch {
  agent?: string
  standing?: Standing
  mine?: true
}

export function parseAgentSearch(search: Record<string, unknown>): AgentSearch {
  const standing = standings.find((one) => one === search.standing)
  return {
    ...(typeof search.agent === 'string' && { agent: search.agent }),
    ...(standing && { standing }),
    ...(search.mine === true && { mine: true }),
  }
}
