import {
  api,
  type Described,
  described,
  errorsOf,
  exampleOf,
  inWorkspace,
  limits,
  type Noun,
  nounOf,
  nouns,
  type Operation,
  parameterWords,
  pathParams,
  type Route,
  sectionsOf,
  streamed,
} from '@baton/protocol'
import { describeSchema, literal } from './describe-schema.ts'
import { fieldRows, table } from './field-rows.ts'
import { curlSample, sampleSetup, sampleUrl, sdkSample } from './samples.ts'

type Named = [name: string, operation: Operation]
type LinkTo = (title: string) => string

const operations = Object.entries<Operation>(api)
const operationsOf = (noun: Noun) => operations.filter(([, { route }]) => nounOf(route) === noun)

/** Where an operation is described. */
export const operationLink = (name: string, { route }: Operation) => `reference/${nounOf(route).name}.md#${name}`

/** The first page of the reference, which lists all operations. */
export function referencePage(): string {
  const sections = nouns.map(
    (noun) => `## ${noun.title}

${noun.line}

${table(
  ['operation', 'request', ''],
  operationsOf(noun).map(([name, operation]) => [
    `[\`${name}\`](${operationLink(name, operation)})`,
    requestOf(operation),
    unlinked(operation.summary),
  ]),
).join('')}`,
  )
  return `# Reference

Every operation of the API by noun, with its parameters, responses, errors and samples. [Using the API](api.md) explains authentication and common rules. The same in OpenAPI 3.1 is at [/api/v1/openapi.json](${sampleUrl}/api/v1/openapi.json).

The samples use these variables:

\`\`\`sh
${sampleSetup.curl}
\`\`\`

In TypeScript, install the [SDK](sdk.md) with \`npm install ${sampleUrl}/packages/sdk.tgz\`, and create a client:

\`\`\`ts
${sampleSetup.sdk}
\`\`\`

${sections.join('\n\n')}
`
}

/** A page for each noun: its operations and the schemas that are described there. */
export function nounPages(): Map<string, string> {
  const homes = schemaHomes()
  return new Map(
    nouns
      .filter((noun) => operationsOf(noun).length > 0)
      .map((noun) => [`reference/${noun.name}`, nounPage(noun, homes)]),
  )
}

interface Home {
  noun: Noun
  schema: Described
}

function nounPage(noun: Noun, homes: Map<string, Home>): string {
  const linkTo: LinkTo = (title) => {
    const home = homes.get(title)?.noun ?? noun
    return `[${title}](${home === noun ? '' : `reference/${home.name}.md`}#${title})`
  }
  const own = [...homes].filter(([, home]) => home.noun === noun)
  // The noun's own schema comes first.
  const schemas = [...own].sort(([a], [b]) => Number(b === noun.schema) - Number(a === noun.schema))
  const entries = [
    ...operationsOf(noun).map((named) => operationEntry(named, linkTo)),
    ...(schemas.length === 0 ? [] : ['## Schemas']),
    ...schemas.map(([title, { schema }]) => schemaEntry(title, schema, linkTo)),
  ]
  return `# ${noun.title}

${noun.line} [Reference](reference.md) explains the variables of the samples.

${entries.join('\n\n')}
`
}

function operationEntry(named: Named, linkTo: LinkTo): string {
  const [name, operation] = named
  const { route, summary, body, returns, produces } = operation
  const success = Object.entries(returns).map(([status, schema]) => {
    const type = schema ? (produces ?? describeSchema(schema as Described, linkTo)) : 'without a body'
    return `\`${status}\` ${type}`
  })
  const sdk = sdkSample(name, operation)
  return [
    `## \`${name}\``,
    requestOf(operation),
    `${unlinked(summary)}.`,
    `Who may call it: ${callers(route)}.`,
    ...table(['parameter', 'in', 'type', 'description', 'example'], parameters(named, linkTo)),
    ...(body && !(body as Described).properties ? [`Body: ${describeSchema(body as Described, linkTo)}.`] : []),
    `\`\`\`sh curl\n${curlSample(name, operation)}\n\`\`\``,
    ...(sdk ? [`\`\`\`ts sdk\n${sdk}\n\`\`\``] : []),
    `Returns ${route.stream ? 'server-sent events; ' : ''}${success.join(', ')}.`,
    ...Object.entries(streamed[name] ?? {}).map(
      ([event, schema]) => `The data of the event \`${event}\` is ${describeSchema(schema as Described, linkTo)}.`,
    ),
    ...(produces ? [] : answerFields(named, linkTo)),
    `Errors: ${errorsOf(operation)
      .map((code) => `[\`${code}\`](errors.md#${code})`)
      .join(', ')}.`,
  ].join('\n\n')
}

const requestOf = ({ route }: Operation) =>
  `\`${route.method} ${route.at === 'root' ? '' : '/api/v1'}${route.path.replace(/:(\w+)/g, '{$1}')}\``

/** Brackets in a summary must not become Markdown links. */
const unlinked = (text: string) => text.replaceAll('[', '\\[').replaceAll('](', ']\\(').replaceAll('|', '\\|')

function callers(route: Route): string {
  if (!('scope' in route)) return route.caller
  const needs = route.scope ?? route.programScope
  if (!needs) return `${route.caller}; no scope is needed`
  return route.scope
    ? `${route.caller}; tokens need the scope \`${needs}\``
    : `${route.caller}; a person's program needs the scope \`${needs}\`, an app none`
}

function parameters([name, operation]: Named, linkTo: LinkTo): string[][] {
  const { route, query, body, idempotent } = operation
  const fixed = (parameter: string, place: string, type: string) => {
    const { description, example } = parameterWords(parameter)
    return [`\`${parameter}\``, place, type, description, literal(example)]
  }
  const fields = (place: string, schema: Operation['body']) =>
    schema && (schema as Described).properties && !(schema as Described).title
      ? fieldRows(described(schema, sectionsOf(name, operation)), linkTo).map(([field, ...rest]) => [
          field,
          place,
          ...rest,
        ])
      : []
  return [
    ...pathParams(route.path).map((parameter) => fixed(parameter, 'path', 'string')),
    ...(inWorkspace(route.caller)
      ? [fixed('X-Workspace-ID', 'header', route.stream ? 'string; or `workspace_id` in the query' : 'string')]
      : []),
    ...(idempotent
      ? [fixed('Idempotency-Key', 'header', `optional: string, 1 to ${limits.idempotencyKey} characters`)]
      : []),
    ...fields('query', query),
    ...fields('body', body),
  ]
}

/** The fields of responses that are no titled schema, and an example. */
function answerFields([name, operation]: Named, linkTo: LinkTo): string[] {
  return Object.values(operation.returns).flatMap((schema) => {
    if (!schema || (schema as Described).title) return []
    const full = described(schema, sectionsOf(name, operation))
    const rows = fieldRows(full, linkTo)
    return rows.length === 0 ? [] : table(['field', 'type', 'description', 'example'], rows)
  })
}

function schemaEntry(title: string, schema: Described, linkTo: LinkTo): string {
  const rows = fieldRows(schema, linkTo)
  const example = exampleOf(schema)
  return [
    `### \`${title}\``,
    ...(rows.length === 0
      ? [`Any ${schema.type ?? 'JSON'}.`]
      : table(['field', 'type', 'description', 'example'], rows)),
    ...(example === undefined || rows.length === 0 ? [] : [`\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``]),
  ].join('\n\n')
}

/** Each titled schema, with the noun whose page describes it: its own noun, or the first that uses it. */
function schemaHomes(): Map<string, Home> {
  const homes = new Map<string, Home>()
  for (const noun of nouns) {
    for (const [name, operation] of operationsOf(noun)) {
      const { query, body, returns } = operation
      for (const schema of [query, body, ...Object.values(returns), ...Object.values(streamed[name] ?? {})]) {
        if (schema) collect(described(schema, sectionsOf(name, operation)), noun, homes)
      }
    }
  }
  return homes
}

function collect(schema: Described, noun: Noun, homes: Map<string, Home>) {
  const { title } = schema
  if (title && homes.has(title)) return
  if (title) homes.set(title, { noun: nouns.find((one) => one.schema === title) ?? noun, schema })
  for (const inner of [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])]) collect(inner, noun, homes)
  if (schema.items) collect(schema.items, noun, homes)
}
