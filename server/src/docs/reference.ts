import { api, errorsOf, inWorkspace, limits, type Operation, pathParams, type Route } from '@baton/protocol'
import { describeSchema, type Schema } from './describe-schema.ts'

type Named = [name: string, operation: Operation]
type Collect = (schema: Schema) => void

/** Generated from the schemas that the server validates with. */
export function referencePage(): string {
  const schemas = new Map<string, Schema>()
  const collect: Collect = (schema) => {
    const { title = '' } = schema
    if (!schemas.has(title)) schemas.set(title, schema)
  }
  const groups = byGroup(Object.entries<Operation>(api))
  const operations = [...groups].map(([group, members]) =>
    [`## ${group}`, ...members.map((named) => operationEntry(named, collect))].join('\n\n'),
  )
  return `# Reference

Every operation of the API, with its parameters, responses and errors. [Using the API](api.md) explains authentication and common rules. The same in OpenAPI 3.1 is at [/api/v1/openapi.json](/api/v1/openapi.json).

${[...groups.keys(), 'schemas'].map((group) => `[${group}](#${group})`).join(' · ')}

${operations.join('\n\n')}

## schemas

${schemaEntries(schemas, collect).join('\n\n')}
`
}

/** Grouped by the first word of the path; routes about the process itself form the group `instance`. */
function byGroup(all: Named[]): Map<string, Named[]> {
  const groups = new Map<string, Named[]>()
  for (const named of all) {
    const { route } = named[1]
    const [word = ''] = route.path.slice(1).split('/')
    const group = /^[\w-]+$/.test(word) && (route.at !== 'root' || word === 'docs') ? word : 'instance'
    groups.set(group, [...(groups.get(group) ?? []), named])
  }
  return groups
}

function operationEntry([name, operation]: Named, collect: Collect): string {
  const { route, summary, body, returns, produces } = operation
  const path = `${route.at === 'root' ? '' : '/api/v1'}${route.path.replace(/:(\w+)/g, '{$1}')}`
  const answers = Object.entries(returns).map(
    ([status, schema]) =>
      `\`${status}\` ${schema ? (produces ?? describeSchema(schema as Schema, collect)) : 'without a body'}`,
  )
  const codes = errorsOf(operation).map((code) => `[\`${code}\`](errors.md#${code})`)
  const { table, more } = body ? describeBody(body as Schema, collect) : { table: [], more: '' }
  return [
    `### \`${name}\``,
    `\`${route.method} ${path}\``,
    `${unlinked(summary)}.`,
    `Who may call it: ${callers(route)}.`,
    ...tableOf(['parameter', 'in', 'type'], [...parameters(operation, collect), ...table]),
    ...(more ? [`Body: ${more}`] : []),
    `Returns ${route.stream ? 'server-sent events; ' : ''}${answers.join(', ')}.`,
    `Errors: ${codes.join(', ')}.`,
  ].join('\n\n')
}

/** Brackets in a summary must not become Markdown links. */
const unlinked = (text: string) => text.replaceAll('[', '\\[').replaceAll('](', ']\\(')

function callers(route: Route): string {
  if (!('scope' in route)) return route.caller
  const needs = route.scope ?? route.programScope
  if (!needs) return `${route.caller}; no scope is needed`
  return route.scope
    ? `${route.caller}; tokens need the scope \`${needs}\``
    : `${route.caller}; a person's program needs the scope \`${needs}\`, an app none`
}

type Row = string[]

function parameters({ route, query, idempotent }: Operation, collect: Collect): Row[] {
  const required: readonly string[] = query?.required ?? []
  return [
    ...pathParams(route.path).map((name) => [`\`${name}\``, 'path', 'string']),
    ...(inWorkspace(route.caller)
      ? [['`X-Workspace-ID`', 'header', route.stream ? 'string; or `workspace_id` in the query' : 'string']]
      : []),
    ...(idempotent
      ? [['`Idempotency-Key`', 'header', `optional: string, 1 to ${limits.idempotencyKey} characters`]]
      : []),
    ...Object.entries((query?.properties ?? {}) as Record<string, Schema>).map(([name, schema]) => [
      `\`${name}\``,
      'query',
      `${required.includes(name) ? '' : 'optional: '}${describeSchema(schema, collect)}`,
    ]),
  ]
}

/** The fields of a body as table rows, or one sentence for a body that is no plain object. */
function describeBody(body: Schema, collect: Collect): { table: Row[]; more: string } {
  if (body.title || !body.properties) return { table: [], more: `${describeSchema(body, collect)}.` }
  return { table: fieldRows(body, collect).map(([name, what]) => [name, 'body', what] as Row), more: '' }
}

const fieldRows = ({ properties = {}, required = [] }: Schema, collect: Collect) =>
  Object.entries(properties).map(
    ([name, schema]) =>
      [`\`${name}\``, `${required.includes(name) ? '' : 'optional: '}${describeSchema(schema, collect)}`] as [
        string,
        string,
      ],
  )

const tableOf = (head: string[], rows: Row[]) =>
  rows.length === 0 ? [] : [[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')]

/** `collect` adds the schemas that a schema refers to while the loop runs, so the loop covers them too. */
function schemaEntries(schemas: Map<string, Schema>, collect: Collect): string[] {
  const entries = new Map<string, string>()
  for (const [title, { title: _, ...schema }] of schemas) {
    const content = schema.properties
      ? tableOf(['field', 'type'], fieldRows(schema, collect))
      : [`${describeSchema(schema, collect)}.`]
    entries.set(title, [`### \`${title}\``, ...content].join('\n\n'))
  }
  return [...entries].sort(([a], [b]) => a.localeCompare(b)).map(([, entry]) => entry)
}
