import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { AgentSession } from './agent-sessions.ts'
import { CommentData } from './comments.ts'
import { closed, id, nullable, Timestamp } from './common.ts'
import { appEventTypes, type ResourceType } from './deliveries.ts'
import { IssueData } from './issues.ts'
import { operation } from './operation.ts'
import { ProjectData } from './projects.ts'
import { routes } from './routes.ts'

// The bodies of deliveries, by type and action.

export interface EventSchema {
  type: string
  action: string
  /** Of the whole body. */
  schema: TSchema
  /** Of its field `data`. */
  data: TSchema
}

const Named = Type.Object({ id: Type.String(), name: Type.String() }, closed)

const event = (type: string, action: string, data: TProperties, more: TProperties = {}): EventSchema => {
  const dataSchema = Type.Object(data, closed)
  const schema = Type.Object(
    {
      action: Type.Literal(action),
      type: Type.Literal(type),
      actor: nullable(
        Type.Object(
          { id: Type.String(), type: Type.Enum(['user', 'application', 'system']), name: Type.String() },
          closed,
        ),
      ),
      created_at: Timestamp,
      data: dataSchema,
      ...more,
      url: Type.String(),
      workspace_id: id('wsp'),
      webhook_id: id('whk'),
      webhook_timestamp: Type.Integer(),
      /** Only for agent apps; null in a test while the app is not installed. */
      installation_id: Type.Optional(nullable(id('ins'))),
      app_user_id: Type.Optional(nullable(id('usr'))),
      /** Only in a test event. */
      test: Type.Optional(Type.Literal(true)),
    },
    closed,
  )
  return { type, action, schema, data: dataSchema }
}

/** Create, update and remove. Agent apps also get the event's id in `data`. */
function changes(type: ResourceType, { properties }: { properties: TProperties }, updates: TProperties): EventSchema[] {
  const data = { ...properties, event_id: Type.Optional(Type.String()) }
  return [event(type, 'create', data), event(type, 'update', data, updates), event(type, 'remove', data)]
}

const updatedFrom = ({ properties }: { properties: TProperties }) => ({
  updated_from: Type.Partial(Type.Object(properties), closed),
})

const inSession = { event_id: Type.String(), agent_session: AgentSession }

/** One for each type and action that is delivered. */
export const eventSchemas: readonly EventSchema[] = [
  ...changes('Issue', IssueData, updatedFrom(IssueData)),
  ...changes('Comment', CommentData, {}),
  ...changes('Project', ProjectData, updatedFrom(ProjectData)),
  event('AgentSessionEvent', 'created', {
    ...inSession,
    previous_comments: Type.Array(
      Type.Object({ id: id('cmt'), body: Type.String(), author: nullable(Named), created_at: Timestamp }, closed),
    ),
    guidance: Type.Array(
      Type.Object(
        {
          origin: Type.Enum(['workspace', 'team']),
          team_id: Type.Optional(nullable(id('team'))),
          body: Type.String(),
        },
        closed,
      ),
    ),
    prompt_context: Type.String(),
  }),
  event('AgentSessionEvent', 'prompted', {
    ...inSession,
    agent_activity: Type.Object(
      {
        id: id('act'),
        seq: Type.Integer(),
        type: Type.Literal('prompt'),
        content: Type.Object({ type: Type.Literal('prompt'), body: Type.String() }, closed),
        signal: nullable(Type.Enum(['stop', 'auth', 'select'])),
        signal_metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
        author: nullable(Named),
        created_at: Timestamp,
      },
      closed,
    ),
  }),
  event('PermissionChange', 'teamAccessChanged', {
    event_id: Type.String(),
    installation_id: id('ins'),
    all_teams: Type.Boolean(),
    team_ids: Type.Array(id('team')),
    added_team_ids: Type.Array(id('team')),
    removed_team_ids: Type.Array(id('team')),
  }),
  event('OAuthApp', 'revoked', { event_id: Type.String(), installation_id: id('ins'), app_id: id('app') }),
  event('Ping', 'create', {
    event_id: Type.Optional(Type.String()),
    webhook_id: id('whk'),
    label: Type.String(),
  }),
]

/** The types that an endpoint can get: of a workspace webhook, or of an agent app's. */
export const receivableTypes = (resourceTypes: readonly string[], ofApp: boolean): string[] => [
  ...resourceTypes,
  ...(ofApp ? appEventTypes : []),
  'Ping',
]

export const EventType = Type.Object(
  {
    type: Type.String(),
    action: Type.String(),
    /** JSON Schema of the body. */
    schema: Type.Record(Type.String(), Type.Unknown()),
    example: Type.Record(Type.String(), Type.Unknown()),
  },
  { ...closed, title: 'EventType' },
)
export type EventType = Static<typeof EventType>

export const events = {
  listEventTypes: operation(routes.listEventTypes, {
    summary: 'List every type and action of events that are delivered, with JSON Schema and example',
    returns: { 200: Type.Object({ data: Type.Array(EventType) }, closed) },
  }),
}
