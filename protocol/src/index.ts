import { a2a } from './a2a.ts'
import { agentApps } from './agent-apps.ts'
import { agentSessions } from './agent-sessions.ts'
import { agents } from './agents.ts'
import { audit } from './audit.ts'
import { automations } from './automations.ts'
import { comments } from './comments.ts'
import { docs } from './docs.ts'
import { events } from './events.ts'
import { exports } from './exports.ts'
import { files } from './files.ts'
import { git } from './git.ts'
import { imports } from './imports.ts'
import { inbox } from './inbox.ts'
import { insights } from './insights.ts'
import { installations } from './installations.ts'
import { issues } from './issues.ts'
import { linear } from './linear.ts'
import { listening } from './listening.ts'
import { live } from './live.ts'
import { login } from './login.ts'
import { mail } from './mail.ts'
import { mcp } from './mcp.ts'
import { notifications } from './notifications.ts'
import { oauth } from './oauth.ts'
import type { Operation } from './operation.ts'
import { passkeys } from './passkeys.ts'
import { personalTokens } from './personal-tokens.ts'
import { planning } from './planning.ts'
import { projects } from './projects.ts'
import { related } from './related.ts'
import { replays } from './replays.ts'
import { reviews } from './reviews.ts'
import type { RouteName } from './routes.ts'
import { service } from './service.ts'
import { sessionChanges } from './session-changes.ts'
import { sso } from './sso.ts'
import { suggestions } from './suggestions.ts'
import { teams } from './teams.ts'
import { templates } from './templates.ts'
import { usage } from './usage.ts'
import { views } from './views.ts'
import { webhooks } from './webhooks.ts'
import { workspaces } from './workspaces.ts'

export type { A2aCredential, A2aTask, InspectedCard, NewA2aApp } from './a2a.ts'
export {
  type A2aCard,
  type A2aInterface,
  type AgentApp,
  AppName,
  type AppSetup,
  type Compat,
  Manifest,
} from './agent-apps.ts'
export {
  type ActivityQuery,
  AgentActivity,
  AgentSession,
  type Answer,
  type AppActivityType,
  type AppSignal,
  type AuthMetadata,
  activityBodies,
  appActivityTypes,
  type EndReason,
  type ExternalUrl,
  type NewActivity,
  type NewSession,
  type PlanItem,
  type SelectMetadata,
  type SessionChange,
  type SessionFilter,
  type SessionState,
  sessionStates,
} from './agent-sessions.ts'
export type {
  AgentQuery,
  Choice,
  ModelStatus,
  NamesQuery,
  NewPersonalAgent,
  PersonalAgent,
  PersonalAgentChange,
  UnavailableReason,
  UserQuery,
} from './agents.ts'
export type { AuditAction, AuditEntry } from './audit.ts'
export {
  type ActionResult,
  type Automation,
  type AutomationAction,
  type AutomationChange,
  type AutomationFilter,
  type AutomationRun,
  type AutomationTrial,
  type AutomationTrigger,
  automationBodies,
  type NewAutomation,
  type PausedReason,
  type RunReason,
  sessionOutcomes,
} from './automations.ts'
export { branchName } from './branch-name.ts'
export {
  type Comment,
  type CommentChange,
  CommentData,
  type CommentTarget,
  commentFields,
  type FoundComment,
  type NewComment,
  type Reaction,
  type ReactionName,
  reactionNames,
} from './comments.ts'
export { placeholderDomain, type Role } from './common.ts'
export {
  type AppDeliveryQuery,
  type AppEventType,
  type Attempt,
  appEventTypes,
  type Delivery,
  type DeliveryDetail,
  type DeliveryQuery,
  type DeliveryStatus,
  type EndpointHealth,
  type EndpointState,
  type FailureReason,
  type PingResult,
  type ResourceType,
  type Rotation,
  type TestEvent,
} from './deliveries.ts'
export * from './errors.ts'
export { type EventType, eventSchemas, receivableTypes } from './events.ts'
export type { Export, ExportLink, Restore } from './exports.ts'
export type { File, NewFile, WorkspaceStorage } from './files.ts'
export { fileIdPattern, fileIdsIn } from './files-in-text.ts'
export {
  type ChecksState,
  type GitAutomation,
  type GitAutomationChange,
  type GitBranch,
  type GitConnection,
  type GitConnectionChange,
  type GitDelivery,
  type GitEvent,
  type GitKind,
  type GitOutcome,
  gitEvents,
  type NewGitConnection,
  type PullRequest,
  type PullRequestFilter,
  type PullRequestState,
  pullRequestStates,
  type ReviewState,
} from './git.ts'
export {
  type Import,
  type ImportChange,
  type ImportColumn,
  type ImportCount,
  type ImportCounts,
  type ImportKind,
  type ImportMapping,
  type ImportMappingChange,
  type ImportProblem,
  type ImportSource,
  type ImportState,
  type IssueSource,
  importColumns,
  importKinds,
  importSources,
  importStates,
  type NewImport,
  type Placeholder,
} from './imports.ts'
export {
  type InboxEntry,
  type InboxKind,
  type InboxThread,
  type InboxThreadChange,
  inboxKinds,
  type ThreadState,
} from './inbox.ts'
export type {
  AgentFigures,
  AgentInsights,
  CycleInsights,
  DeliveryInsights,
  Durations,
  FlowFigures,
  FlowInsights,
  InsightPeriodLength,
  InsightQuery,
  OpenByAge,
} from './insights.ts'
export type { Coverage, Installation } from './installations.ts'
export {
  type Issue,
  type IssueChange,
  type IssueChangeRecord,
  IssueData,
  type IssueExport,
  type IssueFilter,
  type IssueStatus,
  type IssueType,
  type IssueUpdate,
  issueFields,
  issueStatuses,
  type NewIssue,
} from './issues.ts'
export * from './limits.ts'
export type { GraphqlAnswer, GraphqlError, LinearTokenResponse } from './linear.ts'
export { type AttemptAnswer, listenUrl, type RelayedAttempt } from './listening.ts'
export type { LiveChange } from './live.ts'
export type { Account, AccountChange, CliCode, LoginRecord, NewCliLogin, NewPerson, Person } from './login.ts'
export type { MailStatus } from './mail.ts'
export { builtInName, type NameKind, nameProblem, normalizeName } from './names.ts'
export type { NewNotificationSettings, NotificationSettings, NotificationWay } from './notifications.ts'
export * from './nouns.ts'
export type { AuthorizeQuery, Consent, ConsentRequest, InstallApproval, Program, TokenResponse } from './oauth.ts'
export * from './operation.ts'
export type { NewPasskey, Passkey, UsedCredential } from './passkeys.ts'
export { type MemberToken, type NewPersonalToken, type PersonalToken, personalTokenPattern } from './personal-tokens.ts'
export type * from './planning.ts'
export {
  type NewProject,
  type Project,
  type ProjectChange,
  ProjectData,
  projectFields,
} from './projects.ts'
export type { IssueSummary, Related, Watcher } from './related.ts'
export type { NewReplay, Replay, SkipReason } from './replays.ts'
export {
  type Review,
  type ReviewDetail,
  type ReviewFilter,
  TeamReview,
  WorkReviewState,
} from './reviews.ts'
export * from './routes.ts'
export type { Instance } from './service.ts'
export type { ChangedFile, ChangesSummary, NewChanges, OmittedReason, SessionChanges } from './session-changes.ts'
export { type SsoProblem, type SsoStart, ssoProblems } from './sso.ts'
export {
  type NewSuggestion,
  type NewSuggestions,
  type Suggestion,
  type SuggestionDecision,
  SuggestionField,
  SuggestionState,
  type TriagedIssue,
} from './suggestions.ts'
export type {
  GuidanceDraft,
  GuidancePreview,
  NewTeam,
  Repository,
  Team,
  TeamChange,
  TeamChoice,
  TeamMember,
  TeamUsage,
} from './teams.ts'
export type { IssueTemplate, NewTemplate, TemplateChange } from './templates.ts'
export type { Priority } from './tracker.ts'
export type { AppBudget, AppUsage, BudgetDetails, SessionUsage, UsageReport } from './usage.ts'
export { type NewView, type View, type ViewChange, viewKeys } from './views.ts'
export { WebhookFilters } from './webhook-filters.ts'
export type { NewWebhook, Webhook, WebhookChange } from './webhooks.ts'
export * from './words/index.ts'
export type { Invitation, InvitationPreview, Member, NewInvitation, Workspace, WorkspaceChange } from './workspaces.ts'

/** All operations by name. A route without an operation, or the reverse, does not compile. */
export const api = {
  ...service,
  ...docs,
  ...login,
  ...sso,
  ...passkeys,
  ...personalTokens,
  ...mail,
  ...workspaces,
  ...teams,
  ...issues,
  ...related,
  ...templates,
  ...automations,
  ...projects,
  ...comments,
  ...files,
  ...planning,
  ...views,
  ...events,
  ...webhooks,
  ...agentApps,
  ...a2a,
  ...replays,
  ...listening,
  ...installations,
  ...agents,
  ...agentSessions,
  ...sessionChanges,
  ...suggestions,
  ...reviews,
  ...usage,
  ...exports,
  ...git,
  ...imports,
  ...oauth,
  ...mcp,
  ...linear,
  ...inbox,
  ...notifications,
  ...live,
  ...insights,
  ...audit,
} satisfies { [Name in RouteName]: Operation }
