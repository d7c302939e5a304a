import { type Static, Type } from 'typebox'
import { AgentName, closed, id, list, nullable, Page, paging, Timestamp } from './common.ts'
import { limits, programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const UnavailableReason = Type.Enum([
  'app_not_installed_for_team',
  'app_missing_scope',
  'app_webhook_disabled',
  'personal_agent_not_yours',
  'app_budget_reached',
])
export type UnavailableReason = Static<typeof UnavailableReason>

/** A person, or an agent and whether it is available for delegation. */
export const Choice = Type.Object(
  {
    id: id('usr'),
    display_name: Type.String(),
    user_kind: Type.Enum(['human', 'application']),
    agent_kind: nullable(Type.Enum(['deployment', 'personal', 'app'])),
    avatar_url: nullable(Type.String()),
    available: Type.Boolean(),
    unavailable_reason: nullable(UnavailableReason),
    /** Whether an app that only listeners receive for has one now; null for other users. */
    listening: nullable(Type.Boolean()),
  },
  { ...closed, title: 'Choice' },
)
export type Choice = Static<typeof Choice>

const context = {
  ...paging,
  query: Type.Optional(Type.String({ maxLength: limits.query })),
  /** The issue to delegate; availability depends on its team. */
  issue_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  team_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
}

export const UserQuery = Type.Object(context, closed)
export type UserQuery = Static<typeof UserQuery>
export const AgentQuery = Type.Object(
  { ...context, include_apps: Type.Optional(Type.Boolean()), include_deployment: Type.Optional(Type.Boolean()) },
  closed,
)
export type AgentQuery = Static<typeof AgentQuery>

const Instructions = Type.String({
  maxLength: limits.instructions,
  'x-message': `must have at most ${limits.instructions.toLocaleString('en')} characters`,
})

/** An agent that a member created for personal use (agent.personal-create). Its id is the id of its user. */
export const PersonalAgent = Type.Object(
  {
    id: id('usr'),
    name: Type.String(),
    instructions: Type.String(),
    user_kind: Type.Enum(['application']),
    agent_kind: Type.Enum(['personal']),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'PersonalAgent' },
)
export type PersonalAgent = Static<typeof PersonalAgent>

export const NewPersonalAgent = Type.Object({ name: AgentName, instructions: Instructions }, closed)
export type NewPersonalAgent = Static<typeof NewPersonalAgent>
export const PersonalAgentChange = Type.Partial(NewPersonalAgent, closed)
export type PersonalAgentChange = Static<typeof PersonalAgentChange>

/** The configured model of the built-in and personal agents, and its latest results. */
export const ModelStatus = Type.Object(
  {
    configured: Type.Boolean(),
    model: nullable(Type.String()),
    url_host: nullable(Type.String()),
    last_success_at: nullable(Timestamp),
    last_failure_at: nullable(Timestamp),
    /** Short reason of the last failure. */
    last_failure: nullable(Type.String()),
  },
  { ...closed, title: 'ModelStatus' },
)
export type ModelStatus = Static<typeof ModelStatus>

export const NamesQuery = Type.Object(
  {
    ids: Type.String({
      pattern: '^usr_[0-9a-hjkmnp-tv-z]{26}(,usr_[0-9a-hjkmnp-tv-z]{26})*$',
      maxLength: programLimits.namesAtOnce * 31 - 1,
      'x-message': `must be 1 to ${programLimits.namesAtOnce} ids of people, separated by commas`,
    }),
  },
  closed,
)
export type NamesQuery = Static<typeof NamesQuery>

const PersonName = Type.Object({ id: id('usr'), display_name: Type.String() }, { ...closed, title: 'PersonName' })

export const agents = {
  getModelStatus: operation(routes.getModelStatus, {
    summary: 'Get the model that the built-in and personal agents use, and its last success and failure',
    returns: { 200: ModelStatus },
  }),
  listPersonalAgents: operation(routes.listPersonalAgents, {
    summary: 'List your personal agents, newest first',
    query: Page,
    returns: { 200: list(PersonalAgent) },
  }),
  createPersonalAgent: operation(routes.createPersonalAgent, {
    summary: `Create a personal agent with instructions; at most ${limits.personalAgentsPerPerson} for each person`,
    body: NewPersonalAgent,
    returns: { 201: PersonalAgent },
    errors: ['PERSONAL_AGENT_LIMIT_REACHED'],
  }),
  updatePersonalAgent: operation(routes.updatePersonalAgent, {
    summary: 'Change the name or instructions of a personal agent',
    body: PersonalAgentChange,
    returns: { 200: PersonalAgent },
  }),
  deletePersonalAgent: operation(routes.deletePersonalAgent, {
    summary: 'Delete a personal agent; its sessions end and its delegations are removed',
    returns: { 204: null },
  }),
  listAgents: operation(routes.listAgents, {
    summary:
      'List agents and whether they are available; include_apps adds installed apps, include_deployment the built-in agent',
    query: AgentQuery,
    returns: { 200: list(Choice) },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  selectUsers: operation(routes.selectUsers, {
    summary: 'List people and agents to choose from',
    query: UserQuery,
    returns: { 200: list(Choice) },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  listNames: operation(routes.listNames, {
    summary: 'List the names of people who have no account: placeholders of imports, and erased people',
    query: NamesQuery,
    returns: { 200: Type.Object({ data: Type.Array(PersonName, { maxItems: programLimits.namesAtOnce }) }, closed) },
  }),
  getUser: operation(routes.getUser, { summary: 'Get a person or agent', returns: { 200: Choice } }),
}
