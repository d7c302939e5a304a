import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const UnavailableReason = Type.Enum(['app_not_installed_for_team', 'app_missing_scope', 'app_webhook_disabled'])
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

export const agents = {
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
