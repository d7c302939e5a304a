import { api, errorsOf, inWorkspace, limits, type Operation, pathParams, type Route } from '@baton/protocol'
import { type Schema, words } from './schema-words.ts'

type Named = [name: string, operation: Operation]
type Meet = (shape: Schema) => void

/** Every operation and every shape, from what the server itself checks with. */
export function referencePage(): string {
  const shapes = new Map<string, Schema>()
  const meet: Meet = (shape) => {
    const { title = '' } = shape
    if (!shapes.has(title)) shapes.set(title, shape)
  }
  const groups = byGroup(Object.entries<Operation>(api))
  const operations = [...groups].map(([group, members]) =>
    [`## ${group}`, ...members.map((named) => operationEntry(named, meet))].join('\n\n'),
  )
  return `# Reference

Every operation of the API, what it takes and what it answers. Who calls and how is in [using the API](api.md). The same for programs, as OpenAPI 3.1, is at [/api/v1/openapi.json](/api/v1/openapi.json).

${[...groups.keys(), 'shapes'].map((group) => `[${group}](#${group})`).join(' · ')}

${operations.join('\n\n')}

## shapes

${shapeEntries(shapes, meet).join('\n\n')}
`
}

/** By the first word of the path; what is about the process itself, together. */
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

function operationEntry([name, operation]: Named, meet: Meet): string {
  const { route, summary, body, returns, produces } = operation
  const path = `${route.at === 'root' ? '' : '/api/v1'}${route.path.replace(/:(\w+)/g, '{$1}')}`
  const answers = Object.entries(returns).map(
    ([status, schema]) => `\`${status}\` ${schema ? (produces ?? words(schema as Schema, meet)) : 'without a body'}`,
  )
  const codes = errorsOf(operation).map((code) => `[\`${code}\`](errors.md#${code})`)
  const { table, more } = body ? bodyWords(body as Schema, meet) : { table: [], more: '' }
  return [
    `### \`${name}\``,
    `\`${route.method} ${path}\``,
    `${unlinked(summary)}.`,
    `Who may call it: ${callers(route)}.`,
    ...tableOf(['parameter', 'in', 'what'], [...parameters(operation, meet), ...table]),
    ...(more ? [`Body: ${more}`] : []),
    `Answers ${route.stream ? 'server-sent events; ' : ''}${answers.join(', ')}.`,
    `Errors: ${codes.join(', ')}.`,
  ].join('\n\n')
}

/** Brackets in a summary are meant as brackets. */
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

function parameters({ route, query, idempotent }: Operation, meet: Meet): Row[] {
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
      `${required.includes(name) ? '' : 'optional: '}${words(schema, meet)}`,
    ]),
  ]
}

/** The fields of a body as rows; a body that is no plain object, in words. */
function bodyWords(body: Schema, meet: Meet): { table: Row[]; more: string } {
  if (body.title || !body.properties) return { table: [], more: `${words(body, meet)}.` }
  return { table: fieldRows(body, meet).map(([name, what]) => [name, 'body', what] as Row), more: '' }
}

const fieldRows = ({ properties = {}, required = [] }: Schema, meet: Meet) =>
  Object.entries(properties).map(
    ([name, schema]) =>
      [`\`${name}\``, `${required.includes(name) ? '' : 'optional: '}${words(schema, meet)}`] as [string, string],
  )

const tableOf = (head: string[], rows: Row[]) =>
  rows.length === 0 ? [] : [[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')]

/** A shape can name further shapes, which then have their turn. */
function shapeEntries(shapes: Map<string, Schema>, meet: Meet): string[] {
  const entries = new Map<string, string>()
  for (const [title, { title: _, ...schema }] of shapes) {
    const content = schema.properties
      ? tableOf(['field', 'what'], fieldRows(schema, meet))
      : [`${words(schema, meet)}.`]
    entries.set(title, [`### \`${title}\``, ...content].join('\n\n'))
  }
  return [...entries].sort(([a], [b]) => a.localeCompare(b)).map(([, entry]) => entry)
}
