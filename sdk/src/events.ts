import type { AgentActivity, AgentSession, CommentData, IssueData, ProjectData } from './operations.ts'

/** The user who caused the event; null if that user was deleted or there was none. */
export type Actor = { id: string; type: 'user' | 'application' | 'system'; name: string } | null

/** The fields of every delivery. */
export interface Envelope<Type extends string, Action extends string, Data> {
  type: Type
  action: Action
  actor: Actor
  /** When it happened; the same on every retry. */
  created_at: string
  data: Data
  /** Its page in the web app; empty if there is none. */
  url: string
  workspace_id: string
  webhook_id: string
  /** Time of this attempt in milliseconds, covered by the signature. */
  webhook_timestamp: number
  /** Deliveries to agent apps only; null on a Ping while the app is not installed. */
  installation_id?: string | null
  app_user_id?: string | null
  /** Only in a test event, whose data is an example. */
  test?: true
}

export interface Guidance {
  origin: 'workspace' | 'team'
  team_id?: string
  body: string
}

export interface PreviousComment {
  id: string
  body: string
  author: { id: string; name: string }
  created_at: string
}

/** A person delegated an issue to the app, or mentioned it. */
export type SessionCreated = Envelope<
  'AgentSessionEvent',
  'created',
  {
    event_id: string
    agent_session: AgentSession
    previous_comments: PreviousComment[]
    guidance: Guidance[]
    /** The whole context as one XML string, for a model. */
    prompt_context: string
  }
>

/** A person's message in an event. */
export interface PromptActivity {
  id: string
  seq: number
  type: 'prompt'
  content: { type: 'prompt'; body: string }
  signal: AgentActivity['signal']
  /** `{reason}` of a stop; `{in_reply_to, selected}` of an answer to a choice. */
  signal_metadata: Record<string, unknown> | null
  author: { id: string; name: string }
  created_at: string
}

/** A person wrote, answered or pressed Stop; check `signal` first. */
export type SessionPrompted = Envelope<
  'AgentSessionEvent',
  'prompted',
  { event_id: string; agent_session: AgentSession; agent_activity: PromptActivity }
>

/** A manager changed the teams that the installation covers. */
export type PermissionChange = Envelope<
  'PermissionChange',
  'teamAccessChanged',
  {
    event_id: string
    installation_id: string
    all_teams: boolean
    team_ids: string[]
    added_team_ids: string[]
    removed_team_ids: string[]
  }
>

/** The app was uninstalled. */
export type AppRevoked = Envelope<'OAuthApp', 'revoked', { event_id: string; installation_id: string; app_id: string }>

type Changed<Type extends string, Data> = Envelope<
  Type,
  'create' | 'update' | 'remove',
  Data & { event_id?: string }
> & {
  /** Updates of issues and projects: the previous value of each changed field. */
  updated_from?: Partial<Data>
}
export type IssueEvent = Changed<'Issue', IssueData>
export type CommentEvent = Changed<'Comment', CommentData>
export type ProjectEvent = Changed<'Project', ProjectData>

export type Ping = Envelope<'Ping', 'create', { event_id?: string; webhook_id: string; label: string }>

export type WebhookEvent =
  | SessionCreated
  | SessionPrompted
  | PermissionChange
  | AppRevoked
  | IssueEvent
  | CommentEvent
  | ProjectEvent
  | Ping

export const eventTypes = [
  'AgentSessionEvent',
  'PermissionChange',
  'OAuthApp',
  'Issue',
  'Comment',
  'Project',
  'Ping',
] as const satisfies WebhookEvent['type'][]
