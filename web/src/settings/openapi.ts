/** As much of an OpenAPI document as the reference shows. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation | undefined>>
}

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  $ref?: string
  properties?: Record<string, Schema>
  required?: string[]
}

interface Operation {
  operationId: string
  summary?: string
  description?: string
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: { content?: Record<string, { schema?: Schema }> }
  responses?: Record<string, { description?: string }>
}

export interface Described {
  id: string
  method: string
  path: string
  summary: string
  caller: string | undefined
  parameters: { name: string; where: string; type: string; required: boolean }[]
  answers: { status: string; words: string }[]
}

/** Operations by the first word of their path. */
export function groupsOf({ paths }: OpenApi): { name: string; operations: Described[] }[] {
  const groups = new Map<string, Described[]>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!operation?.operationId) continue
      const name = path.split('/').find((word) => word && !word.startsWith('{')) ?? 'service'
      groups.set(name, [...(groups.get(name) ?? []), described(method, path, operation)])
    }
  }
  // What stands alone is about the service itself, and comes last.
  const alone = [...groups.values()].filter(({ length }) => length === 1).flat()
  return [
    ...[...groups]
      .filter(([, { length }]) => length > 1)
      .map(([name, operations]) => ({ name: name.replaceAll('-', ' '), operations })),
    { name: 'the service itself', operations: alone },
  ]
}

function described(method: string, path: string, operation: Operation): Described {
  const [body] = Object.values(operation.requestBody?.content ?? {})
  const fields = Object.entries(body?.schema?.properties ?? {})
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? '',
    caller: /Who may call it: (.*?)\.?$/.exec(operation.description ?? '')?.[1],
    parameters: [
      ...(operation.parameters ?? []).map(({ name, in: where, required = false, schema }) => ({
        name,
        where,
        type: typeOf(schema),
        required,
      })),
      ...fields.map(([name, schema]) => ({
        name,
        where: 'body',
        type: typeOf(schema),
        required: body?.schema?.required?.includes(name) ?? false,
      })),
    ],
    answers: Object.entries(operation.responses ?? {}).map(([status, { description = '' }]) => ({
      status,
      words: description.replaceAll('`', '').replaceAll('\n\n', ' · '),
    })),
  }
}

function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'anything'
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'object'
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ')
  if (schema.enum) return schema.enum.map(String).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  return [schema.type ?? 'anything'].flat().join(' or ')
}
