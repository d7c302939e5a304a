import type { Described } from '@baton/protocol'

/** Escapes text for a cell of a Markdown table. */
export const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

export const literal = (value: unknown) => `\`${cell(JSON.stringify(value))}\``

/** Names the type of a field in one line. `linkTo` turns the title of a schema into a link. */
export function describeSchema(schema: Described, linkTo: (title: string) => string): string {
  if (schema.title) return linkTo(schema.title)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(', ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => describeSchema(one, linkTo)))].join(' or ')
  if (schema.type === 'array') {
    return `list of ${schema.items ? describeSchema(schema.items, linkTo) : 'anything'}${limitsOf(schema as Limits)}`
  }
  return `${schema.type ?? 'anything'}${limitsOf(schema as Limits)}`
}

interface Limits extends Described {
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  format?: string
  default?: unknown
  'x-message'?: string
}

function limitsOf(schema: Limits): string {
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
