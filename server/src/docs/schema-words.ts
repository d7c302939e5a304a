/** JSON Schema as the operations have it; only what they use is read. */
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

/** What may stand in a cell of a Markdown table. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const literal = (value: unknown) => `\`${cell(JSON.stringify(value))}\``

/** A schema in a few words. What has a name is linked by it and handed to `meet`. */
export function words(schema: Schema, meet: (named: Schema) => void): string {
  if (schema.title) {
    meet(schema)
    return `[${schema.title}](#${schema.title})`
  }
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(', ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => words(one, meet)))].join(' or ')
  if (schema.type === 'array')
    return `list of ${schema.items ? words(schema.items, meet) : 'anything'}${limitsOf(schema)}`
  if (schema.type === 'object' && schema.properties) return `{ ${fieldsOf(schema, meet)} }`
  return `${schema.type ?? 'anything'}${limitsOf(schema)}`
}

const fieldsOf = ({ properties = {}, required = [] }: Schema, meet: (named: Schema) => void) =>
  Object.entries(properties)
    .map(([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${words(schema, meet)}`)
    .join('; ')

function limitsOf(schema: Schema): string {
  if (schema['x-message']) return ` (${cell(escapeMarkdown(schema['x-message']))})`
  const said = [
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'entries'),
    range(schema.minimum, schema.maximum, ''),
    schema.format ?? '',
    schema.default === undefined ? '' : `${literal(schema.default)} if left out`,
  ].filter((part) => part !== '')
  return said.length === 0 ? '' : ` (${said.join(', ')})`
}

function range(least: number | undefined, most: number | undefined, what: string): string {
  const [low, high] = [least?.toLocaleString('en'), most?.toLocaleString('en')]
  if (low && high) return `${low} to ${high} ${what}`.trim()
  if (low && low !== '0') return `at least ${low} ${what}`.trim()
  return high ? `at most ${high} ${what}`.trim() : ''
}

const escapeMarkdown = (text: string) => text.replace(/[\\`*_[\]<>]/g, '\\$&')
