import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp, text } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref } from './tracker.ts'

export const sessionStates = ['pending', 'active', 'awaitingInput', 'error', 'complete', 'stale', 'stopping'] as const
export const SessionState = Type.Enum(sessionStates)
export type SessionState = Static<typeof SessionState>

export const EndReason = Type.Enum(['stopped', 'undelegated', 'uninstalled', 'team_removed', 'issue_deleted'])
export type EndReason = Static<typeof EndReason>

const Url = Type.String({
  maxLength: limits.url,
  pattern: '^https://[^\\s/?#@]+([/?#]\\S*)?$',
  'x-message': `must be an https address of at most ${limits.url} characters`,
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

/** Spec 2.6. */
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
    created_at: Timestamp,
    updated_at: Timestamp,
    ended_at: nullable(Timestamp),
    end_reason: nullable(EndReason),
  },
  { ...closed, title: 'AgentSession' },
)
export type AgentSession = Static<typeof AgentSession>

const Body = text(1, limits.activityBody)
const say = <Name extends string>(type: Name) => Type.Object({ type: Type.Literal(type), body: Body }, closed)

/** What an app may say, by its type (2.7). */
export const appContents = {
  thought: say('thought'),
  action: Type.Object(
    {
      type: Type.Literal('action'),
      action: text(1, limits.activityBody),
      parameter: text(0, limits.activityBody),
      result: Type.Optional(text(0, limits.activityBody)),
    },
    closed,
  ),
  elicitation: say('elicitation'),
  response: say('response'),
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

/** What a person says. */
export const Prompt = say('prompt')

/** What an app may ask for with an elicitation, by the signal's name. */
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
const passing = { ephemeral: Type.Optional(Type.Boolean()) }
const lasting = { ephemeral: Type.Optional(Type.Literal(false, notEphemeral)) }

/** The bodies of a post, by what is said, and for an elicitation by its signal. */
export const activityBodies = {
  thought: Type.Object({ content: appContents.thought, ...passing }, closed),
  action: Type.Object({ content: appContents.action, ...passing }, closed),
  response: Type.Object({ content: appContents.response, ...lasting }, closed),
  error: Type.Object({ content: appContents.error, ...lasting }, closed),
  elicitation: Type.Object({ content: appContents.elicitation, ...lasting }, closed),
  elicitation_auth: Type.Object(
    {
      content: appContents.elicitation,
      ...lasting,
      signal: Type.Literal('auth'),
      signal_metadata: signalMetadata.auth,
    },
    closed,
  ),
  elicitation_select: Type.Object(
    {
      content: appContents.elicitation,
      ...lasting,
      signal: Type.Literal('select'),
      signal_metadata: signalMetadata.select,
    },
    closed,
  ),
  prompt: Type.Object({ content: Prompt, ...lasting, signal_metadata: Type.Optional(Answer) }, closed),
}
const NewActivity = Type.Union(Object.values(activityBodies), { title: 'NewAgentActivity' })
export type NewActivity = {
  content: { type: AppActivityType | 'prompt'; body?: string }
  ephemeral?: boolean
  signal?: AppSignal
  signal_metadata?: Record<string, unknown>
}

const { thought, action, elicitation, response, error } = appContents

/** Spec 2.7. */
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
    /** True for those that go on, false for those that have ended. */
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
    summary: 'An agent session: of the calling app, or on something that the calling person sees',
    returns: { 200: AgentSession },
  }),
  listAgentSessions: operation(routes.listAgentSessions, {
    summary: 'Agent sessions, newest first: those of the calling app, or all that the calling person may see',
    query: SessionFilter,
    returns: { 200: list(AgentSession) },
  }),
  openAgentSession: operation(routes.openAgentSession, {
    summary: "Open a session on an issue or in a comment's thread; 200 if the thread has an open one",
    body: NewSession,
    returns: { 201: AgentSession, 200: AgentSession },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  updateAgentSession: operation(routes.updateAgentSession, {
    summary: 'Replace the plan, or change the links, of a session',
    body: SessionChange,
    returns: { 200: AgentSession },
    errors: ['SESSION_ENDED'],
  }),
  stopAgentSession: operation(routes.stopAgentSession, {
    summary: 'Ask the agent to stop; it has a minute for a last word',
    returns: { 200: AgentSession },
    errors: ['SESSION_ENDED'],
  }),
  listActivities: operation(routes.listActivities, {
    summary: 'What was said in a session, oldest first; ask again with after_seq = last_seq',
    query: ActivityQuery,
    returns: {
      200: Type.Object({ data: Type.Array(AgentActivity), has_more: Type.Boolean(), last_seq: Type.Integer() }, closed),
    },
  }),
  watchAgentSession: operation(routes.watchAgentSession, {
    summary:
      'Watch a session by server-sent events: `session` when it looks different, `activity` for each one; goes on after Last-Event-ID or after_seq',
    query: Type.Object({ workspace_id: Type.Optional(Type.String()), after_seq: AfterSeq }, closed),
    returns: { 200: Type.String() },
    produces: 'text/event-stream',
  }),
  postActivity: operation(routes.postActivity, {
    summary: 'Say something in a session: an app its activities, a person a prompt',
    body: NewActivity,
    bodyCheckedByVerb: true,
    idempotent: true,
    returns: { 201: AgentActivity },
    errors: ['FORBIDDEN', 'SESSION_ENDED', 'IDEMPOTENCY_KEY_REUSED', 'PROMPT_IS_HUMAN_ONLY', 'RATE_LIMIT_EXCEEDED'],
  }),
}
