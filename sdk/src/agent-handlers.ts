import type {
  AppRevoked,
  CommentEvent,
  IssueEvent,
  PermissionChange,
  Ping,
  ProjectEvent,
  SessionCreated,
  SessionPrompted,
} from './events.ts'
import type { Session } from './session.ts'

/** A text that a handler returns is posted as its response. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler may return nothing
type Response = string | void | Promise<string | void>
type Ignored = unknown | Promise<unknown>

export interface AgentHandlers {
  /** A person delegated an issue to the agent or mentioned it. Runs once for each session. */
  onCreated(session: Session, event: SessionCreated): Response
  /** A person wrote in a session or answered a question. Runs one at a time in each session, in the order written. */
  onPrompted?(session: Session, event: SessionPrompted): Response
  /** A person pressed Stop. The running handler was aborted; a final message is accepted for a minute. Default: "Stopped." */
  onStop?(session: Session, event: SessionPrompted): Response
  onPermissionChange?(event: PermissionChange): Ignored
  /** The app was uninstalled; its tokens have been discarded. */
  onRevoked?(event: AppRevoked): Ignored
  onIssue?(event: IssueEvent): Ignored
  onComment?(event: CommentEvent): Ignored
  onProject?(event: ProjectEvent): Ignored
  onPing?(event: Ping): Ignored
}
