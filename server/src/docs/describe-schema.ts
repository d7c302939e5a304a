/** The part of JSON Schema that the operations use. */
export interface Schema {
  title?: string
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: readonly string[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  default?: unknown
  'x-message'?: string
}

/** Escapes text for a cell of a Markdown table. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const literal = (value: unknown) => `\`${cell(JSON.stringify(value))}\``

/** Describes a schema in one line. A named schema is linked and passed to `collect`. */
export function describeSchema(schema: Schema, collect: (named: Schema) => void): string {
  if (schema.title) {
    collect(schema)
    return `[${schema.title}](#${schema.title})`
  }
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(', ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => describeSchema(one, collect)))].join(' or ')
  if (schema.type === 'array')
    return `list of ${schema.items ? describeSchema(schema.items, collect) : 'anything'}${limitsOf(schema)}`
  if (schema.type === 'object' && schema.properties) return `{ ${fieldsOf(schema, collect)} }`
  return `${schema.type ?? 'anything'}${limitsOf(schema)}`
}

const fieldsOf = ({ properties = {}, required = [] }: Schema, collect: (named: Schema) => void) =>
  Object.entries(properties)
    .map(([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${describeSchema(schema, collect)}`)
    .join('; ')

function limitsOf(schema: Schema): string {
  if (schema['x-message']) return ` (${cell(escapeMarkdown(schema['x-message']))})`
  const parts = [
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'entries'),
    range(schema.minimum, schema.maximum, ''),
    schema.format ?? '',
    schema.default === undefined ? '' : `default ${literal(schema.default)}`,
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const [low, high] = [least?.toLocaleString('en'), most?.toLocaleString('en')]
  if (low && high) return `${low} to ${high} ${unit}`.trim()
  if (low && low !== '0') return `at least ${low} ${unit}`.trim()
  return high ? `at most ${high} ${unit}`.trim() : ''
}

const escapeMarkdown = (text: string) => text.replace(/[\\`*_[\]<>]/g, '\\$&')
