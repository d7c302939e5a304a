import { limits, pathParams } from '@baton/protocol'
import type { TSchema } from 'typebox'
import { plain } from '../http/plain-schema.ts'
import { fieldHints, paramHints } from './fields.ts'
import type { Tool } from './tool.ts'

export type Json = string | number | boolean | null | Json[] | JsonSchema
export type JsonSchema = { [key: string]: Json }

export interface InputSchema {
  [key: string]: Json
  type: 'object'
  properties: Record<string, JsonSchema>
  required: string[]
}

/** JSON Schema of the tool's flat input: the fields of the operation's path, query, body and headers. */
export function inputSchema({ operation, body = operation.body }: Tool): InputSchema {
  const params = pathParams(operation.route.path)
  const fields = [operation.query, body].map(fieldsOf)
  const key = { type: 'string', minLength: 1, maxLength: limits.idempotencyKey }
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...params.map((name) => [name, { type: 'string', description: paramHints[name] ?? idHint(name) }]),
      ...fields.flatMap(({ properties }) =>
        Object.entries(properties).map(([name, schema]) => [name, hinted(name, schema)]),
      ),
      ...(operation.idempotent ? [['idempotency_key', hinted('idempotency_key', key)]] : []),
    ]),
    required: [...params, ...fields.flatMap(({ required }) => required)],
    additionalProperties: false,
  }
}

const idHint = (name: string) => `The id of the ${name.replace(/_id$/, '').replaceAll('_', ' ')}`

const hinted = (name: string, schema: JsonSchema): JsonSchema =>
  fieldHints[name] ? { ...schema, description: fieldHints[name] } : schema

interface Fields {
  properties: Record<string, JsonSchema>
  required: string[]
}

function fieldsOf(schema: TSchema | undefined): Fields {
  if (!schema) return { properties: {}, required: [] }
  const { anyOf, properties = {}, required = [] } = plain(schema) as Partial<Fields> & { anyOf?: Fields[] }
  return anyOf ? merged(anyOf) : { properties, required }
}

/** Accepts every variant: a field may have its schema of any variant, and is required if all variants require it. */
function merged(variants: Fields[]): Fields {
  const names = [...new Set(variants.flatMap(({ properties }) => Object.keys(properties)))]
  const properties = names.map((name): [string, JsonSchema] => {
    const schemas = variants.flatMap((variant) => variant.properties[name] ?? [])
    const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
    return [name, distinct.length === 1 ? (distinct[0] as JsonSchema) : { anyOf: distinct }]
  })
  const required = names.filter((name) => variants.every((variant) => variant.required?.includes(name)))
  return { properties: Object.fromEntries(properties), required }
}
