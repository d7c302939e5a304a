// In the repository these are the protocol's types. In the package they are plain TypeScript, printed by build.mjs, so
// that users need neither the protocol nor its schema library.
import type { activityBodies, api, CallName, PathParams } from '@baton/protocol'
import type { Static, TSchema } from 'typebox'

export type {
  AgentActivity,
  AgentApp,
  AgentSession,
  AppBudget,
  AppUsage,
  ChangedFile,
  ChangesSummary,
  Comment,
  CommentData,
  Delivery,
  DeliveryDetail,
  EndReason,
  ErrorCode,
  ExternalUrl,
  Installation,
  Issue,
  IssueData,
  Manifest as AgentAppManifest,
  PlanItem,
  Project,
  ProjectData,
  SessionChanges,
  SessionState,
  SessionUsage,
  Team,
  TokenResponse,
  Webhook,
  Workspace,
} from '@baton/protocol'

type Api = typeof api

/** The body of an activity, by its type. */
export type NewAgentActivity = {
  [Kind in keyof typeof activityBodies]: Static<(typeof activityBodies)[Kind]>
}[keyof typeof activityBodies]

type Answered = 200 | 201 | 202 | 204

type Answer<O> = O extends { produces: `image/${string}` }
  ? Uint8Array
  : O extends { produces: `application/x-ndjson${string}` }
    ? string
    : O extends { returns: infer Returns }
      ? {
          [Status in keyof Returns & Answered]: Returns[Status] extends TSchema ? Static<Returns[Status]> : undefined
        }[keyof Returns & Answered]
      : never

type Schema<O, Key extends string> = O extends { [K in Key]: infer S extends TSchema } ? Static<S> : unknown

/** Input and result of every operation, by name, except those that stream. */
export type Operations = {
  [Name in CallName]: {
    params: PathParams<Api[Name]['route']['path']>
    query: Schema<Api[Name], 'query'>
    body: Name extends 'postActivity' ? NewAgentActivity : Schema<Api[Name], 'body'>
    answer: Answer<Api[Name]>
  }
}
