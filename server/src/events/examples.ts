import { AgentSession, CommentData, described, exampleId, exampleOf, IssueData, ProjectData } from '@baton/protocol'

type Json = Record<string, unknown>

export interface EventExample {
  type: string
  action: string
  /** When it is sent. */
  line: string
  body: Json
}

const at = '2026-03-02T09:00:00.000Z'
const ada = { id: exampleId('usr'), name: 'Ada Lovelace' }
const session = exampleOf(described(AgentSession, [])) as Json

/** The fields of every event. Apps also get their installation and user. */
const envelope = (
  type: string,
  action: string,
  data: Json,
  { url = '', updatedFrom = {}, toApp = false } = {},
): Json => ({
  action,
  type,
  actor: { id: ada.id, type: 'user', name: ada.name },
  created_at: at,
  data,
  ...(Object.keys(updatedFrom).length > 0 ? { updated_from: updatedFrom } : {}),
  url,
  workspace_id: exampleId('wsp'),
  ...(toApp ? { installation_id: exampleId('ins'), app_user_id: exampleId('usr') } : {}),
  webhook_id: exampleId('whk'),
  webhook_timestamp: Date.parse(at),
})

/** Create, update and remove of a resource. */
function changes(type: string, noun: string, data: Json, url: string, updatedFrom: Json): EventExample[] {
  const example = (action: string, line: string, from = {}) => ({
    type,
    action,
    line,
    body: envelope(type, action, data, { url, updatedFrom: from }),
  })
  return [
    example('create', `${noun} was created, or a private one was shared.`),
    example(
      'update',
      `${noun} changed.${Object.keys(updatedFrom).length > 0 ? ' `updated_from` has the previous value of each changed field.' : ''}`,
      updatedFrom,
    ),
    example('remove', `${noun} was deleted, or made private. \`data\` has its last values.`),
  ]
}

function prompted(action: 'message' | 'stop', rootUrl: string): Json {
  const stop = action === 'stop'
  const data = {
    event_id: `ase_${exampleId('sess')}_act_${stop ? 4 : 3}`,
    agent_session: stop ? { ...session, state: 'stopping' } : session,
    agent_activity: {
      id: exampleId('act'),
      seq: stop ? 4 : 3,
      type: 'prompt',
      content: { type: 'prompt', body: stop ? 'Stop' : 'Please also oil the lock.' },
      signal: stop ? 'stop' : null,
      signal_metadata: stop ? { reason: 'stopped' } : null,
      author: ada,
      created_at: at,
    },
  }
  return envelope('AgentSessionEvent', 'prompted', data, { url: `${rootUrl}/issue/ENG-12`, toApp: true })
}

/** One example for each type and action, with links to the instance at `rootUrl`. */
export const eventExamples = (rootUrl: string): EventExample[] => [
  ...changes('Issue', 'An issue', exampleOf(described(IssueData, ['Issue'])) as Json, `${rootUrl}/issue/ENG-12`, {
    status: 'backlog',
  }),
  ...changes(
    'Comment',
    'A comment',
    exampleOf(described(CommentData, ['Comment'])) as Json,
    `${rootUrl}/issue/ENG-12#comment-${exampleId('cmt')}`,
    {},
  ),
  ...changes(
    'Project',
    'A project',
    exampleOf(described(ProjectData, ['Project'])) as Json,
    `${rootUrl}/project/${exampleId('prj')}`,
    { status: 'ready' },
  ),
  {
    type: 'AgentSessionEvent',
    action: 'created',
    line: 'A person delegated an issue to the app or mentioned it. Respond with an activity within 10 seconds.',
    body: envelope(
      'AgentSessionEvent',
      'created',
      {
        event_id: `ase_${exampleId('sess')}_created`,
        agent_session: { ...session, state: 'pending', plan: [], external_urls: [], changes: null, usage: null },
        previous_comments: [{ id: exampleId('cmt'), body: 'The key is under the mat.', author: ada, created_at: at }],
        guidance: [{ origin: 'team', team_id: exampleId('team'), body: 'Open a pull request for every change.' }],
        prompt_context: '<issue identifier="ENG-12">…</issue>',
      },
      { url: `${rootUrl}/issue/ENG-12`, toApp: true },
    ),
  },
  {
    type: 'AgentSessionEvent',
    action: 'prompted',
    line: 'A person wrote to the agent or answered its question. With `signal: "stop"` the person pressed Stop: do nothing more.',
    body: prompted('message', rootUrl),
  },
  {
    type: 'PermissionChange',
    action: 'teamAccessChanged',
    line: 'A manager changed the teams that the installation covers.',
    body: envelope(
      'PermissionChange',
      'teamAccessChanged',
      {
        event_id: exampleId('evt'),
        installation_id: exampleId('ins'),
        all_teams: false,
        team_ids: [exampleId('team')],
        added_team_ids: [exampleId('team')],
        removed_team_ids: [],
      },
      { toApp: true },
    ),
  },
  {
    type: 'OAuthApp',
    action: 'revoked',
    line: 'The app was uninstalled. Its tokens no longer work.',
    body: envelope(
      'OAuthApp',
      'revoked',
      { event_id: exampleId('evt'), installation_id: exampleId('ins'), app_id: exampleId('app') },
      { toApp: true },
    ),
  },
  {
    type: 'Ping',
    action: 'create',
    line: 'A manager or developer tested the webhook.',
    body: envelope('Ping', 'create', { webhook_id: exampleId('whk'), label: 'Chat' }),
  },
]

/** The example of a Stop, which has the same type and action as a message. */
export const stopExample = (rootUrl: string) => prompted('stop', rootUrl)
