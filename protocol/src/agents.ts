import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, Page, paging, Timestamp } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const UnavailableReason = Type.Enum([
  'app_not_installed_for_team',
  'app_missing_scope',
  'app_webhook_disabled',
  'personal_agent_not_yours',
])
export type UnavailableReason = Static<typeof UnavailableReason>

/** Somebody to choose: a person, or an agent with whether work can be handed to it. */
export const Choice = Type.Object(
  {
    id: id('usr'),
    display_name: Type.String(),
    user_kind: Type.Enum(['human', 'application']),
    agent_kind: nullable(Type.Enum(['deployment', 'personal', 'app'])),
    avatar_url: nullable(Type.String()),
    available: Type.Boolean(),
    unavailable_reason: nullable(UnavailableReason),
  },
  { ...closed, title: 'Choice' },
)
export type Choice = Static<typeof Choice>

const context = {
  ...paging,
  query: Type.Optional(Type.String({ maxLength: limits.query })),
  /** Of what the work is; availability depends on its team. */
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

/** decisions 10: an agent that a member made for themselves. Its id is that of its user. */
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

export const NewPersonalAgent = Type.Object({ name: Name, instructions: Instructions }, closed)
export type NewPersonalAgent = Static<typeof NewPersonalAgent>
export const PersonalAgentChange = Type.Partial(NewPersonalAgent, closed)
export type PersonalAgentChange = Static<typeof PersonalAgentChange>

/** The model that agents inside the service think with, as its operator set it and as it has been answering. */
export const ModelStatus = Type.Object(
  {
    configured: Type.Boolean(),
    model: nullable(Type.String()),
    url_host: nullable(Type.String()),
    last_success_at: nullable(Timestamp),
    last_failure_at: nullable(Timestamp),
    /** Why the last call failed, in a few words. */
    last_failure: nullable(Type.String()),
  },
  { ...closed, title: 'ModelStatus' },
)
export type ModelStatus = Static<typeof ModelStatus>

export const agents = {
  getModelStatus: operation(routes.getModelStatus, {
    summary: 'Which model agents inside the service think with, and when it last answered and last failed to',
    returns: { 200: ModelStatus },
  }),
  listPersonalAgents: operation(routes.listPersonalAgents, {
    summary: 'The agents that you made for yourself, newest first',
    query: Page,
    returns: { 200: list(PersonalAgent) },
  }),
  createPersonalAgent: operation(routes.createPersonalAgent, {
    summary: `Make an agent of your own, with instructions; a person has at most ${limits.personalAgentsPerPerson}`,
    body: NewPersonalAgent,
    returns: { 201: PersonalAgent },
    errors: ['PERSONAL_AGENT_LIMIT_REACHED'],
  }),
  updatePersonalAgent: operation(routes.updatePersonalAgent, {
    summary: 'Change its name or instructions',
    body: PersonalAgentChange,
    returns: { 200: PersonalAgent },
  }),
  deletePersonalAgent: operation(routes.deletePersonalAgent, {
    summary: 'Delete it; its sessions end and what was delegated to it is released',
    returns: { 204: null },
  }),
  listAgents: operation(routes.listAgents, {
    summary: 'Agents, with whether work can be handed to them; apps and the built-in one where asked for',
    query: AgentQuery,
    returns: { 200: list(Choice) },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  selectUsers: operation(routes.selectUsers, {
    summary: 'People and agents to choose from',
    query: UserQuery,
    returns: { 200: list(Choice) },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
}
