import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp, text } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { ChangesSummary } from './session-changes.ts'
import { Ref } from './tracker.ts'
import { SessionUsage, UsageReport } from './usage.ts'

export const sessionStates = ['pending', 'active', 'awaitingInput', 'error', 'complete', 'stale', 'stopping'] as const
export const SessionState = Type.Enum(sessionStates)
export type SessionState = Static<typeof SessionState>

export const EndReason = Type.Enum(['stopped', 'undelegated', 'uninstalled', 'team_removed', 'issue_deleted'])
export type EndReason = Static<typeof EndReason>

const Url = Type.String({
  maxLength: limits.url,
  pattern: '^https://[^\\s/?#@]+([/?#]\\S*)?$',
  'x-message': `must be an https URL of at most ${limits.url} characters`,
})

export const PlanItem = Type.Object(
  {
    content: text(1, limits.planItemContent),
    status: Type.Enum(['pending', 'inProgress', 'completed', 'canceled']),
  },
  closed,
)
export type PlanItem = Static<typeof PlanItem>
const Plan = Type.Array(PlanItem, { maxItems: limits.planItems })

export const ExternalUrl = Type.Object({ label: text(1, limits.externalUrlLabel), url: Url }, closed)
export type ExternalUrl = Static<typeof ExternalUrl>
const ExternalUrls = Type.Array(ExternalUrl, { maxItems: limits.externalUrls })

export const AgentSession = Type.Object(
  {
    id: id('sess'),
    state: SessionState,
    unresponsive_since: nullable(Timestamp),
    issue: nullable(
      Type.Object(
        {
          id: id('iss'),
          identifier: Type.String(),
          title: Type.String(),
          url: Type.String(),
          /** Null on an issue without a team. */
          team: nullable(Type.Object({ id: id('team'), key: Type.String(), name: Type.String() }, closed)),
        },
        closed,
      ),
    ),
    comment: nullable(Type.Object({ id: id('cmt'), body: Type.String(), url: Type.String() }, closed)),
    creator: Type.Object({ id: id('usr'), name: Type.String() }, closed),
    app_user_id: id('usr'),
    plan: Plan,
    external_urls: ExternalUrls,
    changes: nullable(ChangesSummary),
    usage: nullable(SessionUsage),
    /** The limit of the app's budget that refuses messages now. */
    budget_reached: nullable(Type.Enum(['session', 'month'])),
    created_at: Timestamp,
    updated_at: Timestamp,
    ended_at: nullable(Timestamp),
    end_reason: nullable(EndReason),
  },
  { ...closed, title: 'AgentSession' },
)
export type AgentSession = Static<typeof AgentSession>

const Body = text(1, limits.activityBody)
const content = <Name extends string>(type: Name) => Type.Object({ type: Type.Literal(type), body: Body }, closed)

/** Content of an app's activity, by its type. */
export const appContents = {
  thought: content('thought'),
  action: Type.Object(
    {
      type: Type.Literal('action'),
      action: text(1, limits.activityBody),
      parameter: text(0, limits.activityBody),
      result: Type.Optional(text(0, limits.activityBody)),
    },
    closed,
  ),
  elicitation: content('elicitation'),
  response: content('response'),
  error: Type.Object(
    {
      type: Type.Literal('error'),
      body: Body,
      reason_code: Type.Optional(
        Type.String({
          pattern: `^[a-z0-9_]{1,${limits.reasonCode}}$`,
          'x-message': `must have 1 to ${limits.reasonCode} characters of a-z, 0-9 and _`,
        }),
      ),
    },
    closed,
  ),
}
export type AppActivityType = keyof typeof appContents
export const appActivityTypes = Object.keys(appContents) as AppActivityType[]

/** Content of a person's activity. */
export const Prompt = content('prompt')

/** Metadata of an elicitation, by its signal. */
export const signalMetadata = {
  auth: Type.Object(
    { url: Url, provider_name: Type.Optional(text(1, limits.name)), user_id: Type.Optional(Ref) },
    closed,
  ),
  select: Type.Object(
    {
      options: Type.Array(
        Type.Object(
          {
            value: text(1, limits.optionValue),
            label: Type.Optional(text(1, limits.optionValue)),
            description: Type.Optional(text(0, limits.optionDescription)),
          },
          closed,
        ),
        { minItems: 1, maxItems: limits.selectOptions },
      ),
      allow_multiple: Type.Optional(Type.Boolean()),
    },
    closed,
  ),
}
export type AppSignal = keyof typeof signalMetadata
export type AuthMetadata = Static<(typeof signalMetadata)['auth']>
export type SelectMetadata = Static<(typeof signalMetadata)['select']>

/** A person's answer to a `select`. */
export const Answer = Type.Object(
  {
    in_reply_to: Ref,
    selected: Type.Array(text(1, limits.optionValue), {
      minItems: 1,
      maxItems: limits.selectOptions,
      uniqueItems: true,
    }),
  },
  closed,
)
export type Answer = Static<typeof Answer>

const notEphemeral = { 'x-message': 'must be false: only a thought or an action can be ephemeral' }
const mayBeEphemeral = { ephemeral: Type.Optional(Type.Boolean()) }
const isPermanent = { ephemeral: Type.Optional(Type.Literal(false, notEphemeral)) }

/** Request bodies by activity type and, for an elicitation, by signal. */
export const activityBodies = {
  thought: Type.Object({ content: appContents.thought, ...mayBeEphemeral }, closed),
  action: Type.Object({ content: appContents.action, ...mayBeEphemeral }, closed),
  response: Type.Object({ content: appContents.response, ...isPermanent }, closed),
  error: Type.Object({ content: appContents.error, ...isPermanent }, closed),
  elicitation: Type.Object({ content: appContents.elicitation, ...isPermanent }, closed),
  elicitation_auth: Type.Object(
    {
      content: appContents.elicitation,
      ...isPermanent,
      signal: Type.Literal('auth'),
      signal_metadata: signalMetadata.auth,
    },
    closed,
  ),
  elicitation_select: Type.Object(
    {
      content: appContents.elicitation,
      ...isPermanent,
      signal: Type.Literal('select'),
      signal_metadata: signalMetadata.select,
    },
    closed,
  ),
  prompt: Type.Object({ content: Prompt, ...isPermanent, signal_metadata: Type.Optional(Answer) }, closed),
}
const NewActivity = Type.Union(Object.values(activityBodies), { title: 'NewAgentActivity' })
export type NewActivity = {
  content: { type: AppActivityType | 'prompt'; body?: string }
  ephemeral?: boolean
  signal?: AppSignal
  signal_metadata?: Record<string, unknown>
}

const { thought, action, elicitation, response, error } = appContents

export const AgentActivity = Type.Object(
  {
    id: id('act'),
    seq: Type.Integer({ minimum: 1 }),
    type: Type.Enum([...appActivityTypes, 'prompt']),
    content: Type.Union([thought, action, elicitation, response, error, Prompt]),
    ephemeral: Type.Boolean(),
    superseded_by_seq: nullable(Type.Integer()),
    signal: nullable(Type.Enum(['stop', 'auth', 'select'])),
    signal_metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
    author: Type.Object(
      {
        kind: Type.Enum(['user', 'app']),
        id: id('usr'),
        name: Type.String(),
        avatar_url: nullable(Type.String()),
      },
      closed,
    ),
    created_at: Timestamp,
  },
  { ...closed, title: 'AgentActivity' },
)
export type AgentActivity = Static<typeof AgentActivity>

export const SessionChange = Type.Object(
  {
    plan: Type.Optional(Plan),
    external_urls: Type.Optional(ExternalUrls),
    added_external_urls: Type.Optional(ExternalUrls),
    removed_external_urls: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.url }), { maxItems: limits.idsInArray }),
    ),
    usage: Type.Optional(UsageReport),
  },
  closed,
)
export type SessionChange = Static<typeof SessionChange>

export const NewSession = Type.Object({ issue_id: Type.Optional(Ref), comment_id: Type.Optional(Ref) }, closed)
export type NewSession = Static<typeof NewSession>

export const SessionFilter = Type.Object(
  {
    ...paging,
    issue_id: Type.Optional(Ref),
    project_id: Type.Optional(Ref),
    /** The agent's user: `app_user_id` of a session. */
    agent_id: Type.Optional(Ref),
    state: Type.Optional(SessionState),
    /** True for open sessions, false for ended ones. */
    open: Type.Optional(Type.Boolean({ 'x-message': 'must be true or false' })),
  },
  closed,
)
export type SessionFilter = Static<typeof SessionFilter>

const AfterSeq = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, 'x-message': 'must be the seq of an activity, or 0' }),
)

export const ActivityQuery = Type.Object(
  {
    after_seq: AfterSeq,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.activitiesPage,
        default: limits.pageDefault,
        'x-message': `must be a whole number from 1 to ${limits.activitiesPage}`,
      }),
    ),
  },
  closed,
)
export type ActivityQuery = Static<typeof ActivityQuery>

export const agentSessions = {
  getAgentSession: operation(routes.getAgentSession, {
    summary: 'Get an agent session: of the calling app, or on an item that the calling person can see',
    returns: { 200: AgentSession },
  }),
  listAgentSessions: operation(routes.listAgentSessions, {
    summary: 'List agent sessions, newest first: of the calling app, or all that the calling person can see',
    query: SessionFilter,
    returns: { 200: list(AgentSession) },
  }),
  openAgentSession: operation(routes.openAgentSession, {
    summary: "Open a session on an issue or in a comment's thread; 200 if the thread already has an open one",
    body: NewSession,
    returns: { 201: AgentSession, 200: AgentSession },
    errors: ['RESOURCE_NOT_FOUND', 'BUDGET_REACHED'],
  }),
  updateAgentSession: operation(routes.updateAgentSession, {
    summary: 'Replace the plan of a session, change its links or report its usage',
    body: SessionChange,
    returns: { 200: AgentSession },
    errors: ['SESSION_ENDED'],
  }),
  stopAgentSession: operation(routes.stopAgentSession, {
    summary: 'Stop a session; the agent can post a final message for 60 seconds',
    returns: { 200: AgentSession },
    errors: ['SESSION_ENDED'],
  }),
  listActivities: operation(routes.listActivities, {
    summary: 'List activities of a session, oldest first; continue with after_seq = last_seq',
    query: ActivityQuery,
    returns: {
      200: Type.Object({ data: Type.Array(AgentActivity), has_more: Type.Boolean(), last_seq: Type.Integer() }, closed),
    },
  }),
  watchAgentSession: operation(routes.watchAgentSession, {
    summary:
      'Watch a session with server-sent events: `session` after a change, `activity` for each activity; resumes after Last-Event-ID or after_seq',
    query: Type.Object({ workspace_id: Type.Optional(Type.String()), after_seq: AfterSeq }, closed),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
  }),
  postActivity: operation(routes.postActivity, {
    summary: 'Post an activity in a session; people post prompts, apps all other types',
    body: NewActivity,
    bodyCheckedByVerb: true,
    idempotent: true,
    returns: { 201: AgentActivity },
    errors: [
      'FORBIDDEN',
      'SESSION_ENDED',
      'BUDGET_REACHED',
      'IDEMPOTENCY_KEY_REUSED',
      'PROMPT_IS_HUMAN_ONLY',
      'RATE_LIMIT_EXCEEDED',
    ],
  }),
}
