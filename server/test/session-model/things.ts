/** What the model of agent sessions speaks of. Everything is named by its place in a list. */

export type Team = 'A' | 'B' | null
/** The owner is in both teams and reports every issue; the outsider is in no team. */
export type Person = 'owner' | 'outsider'
/** An agent app, by its place. */
export type Robot = 0 | 1
export type Said = 'thought' | 'action' | 'elicitation' | 'response' | 'error' | 'prompt'
export type Immediate = 'uninstalled' | 'team_removed' | 'issue_deleted'

export interface Installed {
  installed: boolean
  teams: Team[] | 'all'
  hears: boolean
  changes: number
}

export interface Issue {
  team: Team
  personal: boolean
  gone: boolean
  delegate: Robot | null
  revision: number
  assignee: Person | null
}

export interface Comment {
  issue: number
  /** The first comment of its thread. */
  root: number
  author: Person | Robot
  mentions: Robot[]
  internal: boolean
  gone: boolean
}

export interface Activity {
  seq: number
  type: Said
  word: string | null
  ephemeral: boolean
  supersededBy: number | null
  signal: 'stop' | 'select' | null
  author: Person | Robot
}

export interface Session {
  robot: Robot
  issue: number
  thread: number | null
  comment: number | null
  revision: number | null
  creator: Person | Robot
  createdAt: number
  state: 'pending' | 'active' | 'awaitingInput' | 'error' | 'complete' | 'stale' | 'stopping'
  quietSince: number
  stoppingSince: number
  answered: boolean
  endReason: Immediate | 'stopped' | 'undelegated' | null
  endedAt: number | null
  plan: string[]
  urls: { label: string; url: string }[]
  activities: Activity[]
  /** What was sent with each Idempotency-Key, and as what it was stored. */
  keys: Map<string, { sent: string; seq: number }>
  /** When the app spoke. */
  spoken: number[]
}

/** With what its body shows. */
export interface Answer {
  status: number
  code?: string
  details?: object
  session?: Session
  sessions?: number[]
  /** Of the activity that is shown. */
  stored?: { session: Session; seq: number }
  page?: { seqs: number[]; has_more: boolean; last_seq: number }
}

export const ok: Answer = { status: 200 }
export const refuse = (status: number, code: string, details?: object): Answer => ({
  status,
  code,
  ...(details && { details }),
})
export const notFound = refuse(404, 'RESOURCE_NOT_FOUND')
export const revoked = refuse(401, 'INSTALLATION_REVOKED')
export const invalid = refuse(422, 'VALIDATION_ERROR')
export const denied = refuse(403, 'TEAM_ACCESS_DENIED')
export const ended = ({ endReason }: Session) => refuse(409, 'SESSION_ENDED', { end_reason: endReason })

export interface Utterance {
  type: Said
  ephemeral: boolean
  word: string
  select?: boolean
}

export interface Change {
  plan?: string[] | undefined
  urls?: Session['urls'] | undefined
  added?: Session['urls'] | undefined
  removed?: string[] | undefined
}

export const isOpen = ({ endedAt }: Session) => endedAt === null
export const isPerson = (who: Person | Robot): who is Person => typeof who === 'string'
