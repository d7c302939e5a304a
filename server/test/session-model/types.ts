/** Types of the session model. Items are identified by their index in a list. */

export type Team = 'A' | 'B' | null
/** The owner is in both teams and reports every issue; the outsider is in no team. */
export type Person = 'owner' | 'outsider'
/** Index of an agent app. */
export type Robot = 0 | 1
export type ActivityType = 'thought' | 'action' | 'elicitation' | 'response' | 'error' | 'prompt'
export type ImmediateEndReason = 'uninstalled' | 'team_removed' | 'issue_deleted'

export interface InstalledApp {
  installed: boolean
  teams: Team[] | 'all'
  webhookEnabled: boolean
  changes: number
}

export interface Issue {
  team: Team
  personal: boolean
  deleted: boolean
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
  deleted: boolean
}

export interface Activity {
  seq: number
  type: ActivityType
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
  inactiveSince: number
  stoppingSince: number
  answered: boolean
  endReason: ImmediateEndReason | 'stopped' | 'undelegated' | null
  endedAt: number | null
  plan: string[]
  urls: { label: string; url: string }[]
  activities: Activity[]
  /** The activity sent with each Idempotency-Key, and the seq of the stored one. */
  keys: Map<string, { sent: string; seq: number }>
  /** Times of the app's activities. */
  postedAt: number[]
}

/** The expected response; the optional fields describe its body. */
export interface Answer {
  status: number
  code?: string
  details?: object
  session?: Session
  sessions?: number[]
  /** The activity in the body. */
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

export interface NewActivity {
  type: ActivityType
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
