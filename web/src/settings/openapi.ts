/** The parts of an OpenAPI document that the reference uses. */
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

export interface OperationSummary {
  id: string
  method: string
  path: string
  summary: string
  caller: string | undefined
  parameters: { name: string; where: string; type: string; required: boolean }[]
  responses: { status: string; description: string }[]
}

/** Groups operations by the first word of their path. */
export function groupOperations({ paths }: OpenApi): { name: string; operations: OperationSummary[] }[] {
  const groups = new Map<string, OperationSummary[]>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!operation?.operationId) continue
      const name = path.split('/').find((word) => word && !word.startsWith('{')) ?? 'service'
      groups.set(name, [...(groups.get(name) ?? []), summarize(method, path, operation)])
    }
  }
  // Groups with one operation are about the service itself and come last.
  const single = [...groups.values()].filter(({ length }) => length === 1).flat()
  return [
    ...[...groups]
      .filter(([, { length }]) => length > 1)
      .map(([name, operations]) => ({ name: name.replaceAll('-', ' '), operations })),
    { name: 'service', operations: single },
  ]
}

function summarize(method: string, path: string, operation: Operation): OperationSummary {
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
    responses: Object.entries(operation.responses ?? {}).map(([status, { description = '' }]) => ({
      status,
      description: description.replaceAll('`', '').replaceAll('\n\n', ' · '),
    })),
  }
}

function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'any'
  if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'object'
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ')
  if (schema.enum) return schema.enum.map(String).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  return [schema.type ?? 'any'].flat().join(' or ')
}
