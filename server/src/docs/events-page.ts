import { described, eventSchemas } from '@baton/protocol'
import { eventExamples, stopExample } from '../events/examples.ts'
import { fieldRows, table } from './field-rows.ts'
import { sampleUrl } from './samples.ts'

const block = (body: object) => `\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\``

/** The fields of `data`; of several actions, those of all. */
function dataFields(type: string): string[] {
  const schemas = eventSchemas.filter((one) => one.type === type)
  const rows = new Map<string, string[]>()
  for (const { data } of schemas) {
    for (const row of fieldRows(described(data, [type]), (title) => title)) rows.set(row[0], row.slice(0, 3))
  }
  return table(['field of `data`', 'type', 'meaning'], [...rows.values()])
}

/** Every type of event with its fields and an example of each action. */
export function eventsPage(): string {
  const examples = eventExamples(sampleUrl)
  const types = [...new Set(examples.map(({ type }) => type))]
  const sections = types.map((type) => {
    const entries = examples.filter((example) => example.type === type)
    const texts = entries.map(({ action, line, body }) => `### ${type} ${action}\n\n${line}\n\n${block(body)}`)
    return [
      `## ${type}`,
      ...dataFields(type),
      ...texts,
      ...(type === 'AgentSessionEvent' ? [`With a Stop:\n\n${block(stopExample(sampleUrl))}`] : []),
    ].join('\n\n')
  })
  return `# Events

Every event that webhooks and agent apps receive, with an example of each action. [Webhooks](webhooks.md) explains how to receive and verify them, and what is retried. [\`GET /event-types\`](reference/webhooks.md#listEventTypes) returns the same as JSON Schema.

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
| \`test\` | only in a test event, with the value true: \`data\` is an example |
| \`data.event_id\` | only for agent apps: identifies the event; ignore one that you have processed |

${sections.join('\n\n')}
`
}
