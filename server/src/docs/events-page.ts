import { AgentSession, CommentData, described, exampleId, exampleOf, IssueData, ProjectData } from '@baton/protocol'
import { sampleUrl } from './samples.ts'

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

function prompted(action: 'message' | 'stop'): Json {
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
  return envelope('AgentSessionEvent', 'prompted', data, { url: `${sampleUrl}/issue/ENG-12`, toApp: true })
}

/** One example for each type and action. */
export const eventExamples: EventExample[] = [
  ...changes('Issue', 'An issue', exampleOf(described(IssueData, ['Issue'])) as Json, `${sampleUrl}/issue/ENG-12`, {
    status: 'backlog',
  }),
  ...changes(
    'Comment',
    'A comment',
    exampleOf(described(CommentData, ['Comment'])) as Json,
    `${sampleUrl}/issue/ENG-12#comment-${exampleId('cmt')}`,
    {},
  ),
  ...changes(
    'Project',
    'A project',
    exampleOf(described(ProjectData, ['Project'])) as Json,
    `${sampleUrl}/project/${exampleId('prj')}`,
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
      { url: `${sampleUrl}/issue/ENG-12`, toApp: true },
    ),
  },
  {
    type: 'AgentSessionEvent',
    action: 'prompted',
    line: 'A person wrote to the agent or answered its question. With `signal: "stop"` the person pressed Stop: do nothing more.',
    body: prompted('message'),
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
export const stopExample = prompted('stop')

const block = (body: Json) => `\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\``

/** Every type of event with an example of each action. */
export function eventsPage(): string {
  const types = [...new Set(eventExamples.map(({ type }) => type))]
  const sections = types.map((type) => {
    const entries = eventExamples.filter((example) => example.type === type)
    const texts = entries.map(({ action, line, body }) => `### ${type} ${action}\n\n${line}\n\n${block(body)}`)
    return [
      `## ${type}`,
      ...texts,
      ...(type === 'AgentSessionEvent' ? [`With a Stop:\n\n${block(stopExample)}`] : []),
    ].join('\n\n')
  })
  return `# Events

Every event that webhooks and agent apps receive, with an example of each action. [Webhooks](webhooks.md) explains how to receive and verify them, and what is retried.

Webhooks of a workspace receive \`Issue\`, \`Comment\`, \`Project\` and \`Ping\`. Agent apps receive \`AgentSessionEvent\`, \`PermissionChange\`, \`OAuthApp\` and \`Ping\`, and the changes that their manifest asks for.

## Fields of every event

| field | meaning |
| --- | --- |
| \`type\`, \`action\` | what happened |
| \`actor\` | the user who caused it; null if that user was deleted |
| \`created_at\` | when it happened; the same on every attempt |
| \`data\` | the item after the change; its fields are those of the [reference](reference.md) |
| \`updated_from\` | only for updates of issues and projects: the previous value of each changed field |
| \`url\` | page of the item in the web app; empty if there is none |
| \`workspace_id\` | the workspace |
| \`webhook_id\` | the webhook, or the webhook of the app |
| \`webhook_timestamp\` | time of this attempt in milliseconds, covered by the signature |
| \`installation_id\`, \`app_user_id\` | only for agent apps: the installation and the user of the app |
| \`data.event_id\` | only for agent apps: identifies the event; ignore one that you have processed |

${sections.join('\n\n')}
`
}
