import { type Described, exampleOf } from '@baton/protocol'
import { cell, describeSchema, literal } from './describe-schema.ts'

/** A row of a table of fields: name, type, description, example. */
export type FieldRow = [name: string, type: string, description: string, example: string]

type LinkTo = (title: string) => string

interface Found {
  types: string[]
  description: string
  example: unknown
}

/**
 * One row for each field, also of objects inside; a titled schema inside has a table of its own. Where a schema has
 * variants, a field of several variants has one row with all its types.
 */
export function fieldRows(schema: Described, linkTo: LinkTo): FieldRow[] {
  const found = new Map<string, Found>()
  collect(schema, '', false, linkTo, found)
  return [...found].map(([path, { types, description, example }]) => [
    `\`${path}\``,
    [...new Set(types)].join(' or '),
    cell(description),
    example === undefined ? '' : literal(example),
  ])
}

function collect(schema: Described, path: string, optional: boolean, linkTo: LinkTo, found: Map<string, Found>) {
  if (schema.title && path) return
  if (schema.items) collect(schema.items, path, optional, linkTo, found)
  for (const one of schema.anyOf ?? []) collect(one, path, optional, linkTo, found)
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const fieldPath = path ? `${path}.${name}` : name
    const known = found.get(fieldPath) ?? { types: [], description: field.description ?? '', example: undefined }
    const isOptional = !schema.required?.includes(name)
    known.types.push(`${isOptional ? 'optional: ' : ''}${describeSchema(field, linkTo)}`)
    // Objects are shown by the rows of their fields.
    known.example ??= hasRows(field) ? undefined : exampleOf(field)
    found.set(fieldPath, known)
    collect(field, fieldPath, isOptional, linkTo, found)
  }
}

/** Whether the field is an object, or a list of objects, with rows or a table of its own. */
function hasRows(field: Described): boolean {
  const { items, anyOf = [], properties } = field
  return properties !== undefined || (items ? hasRows(items) : anyOf.some(hasRows))
}

export const table = (head: string[], rows: string[][]): string[] =>
  rows.length === 0 ? [] : [[head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')]
