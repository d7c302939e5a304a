import { type NameKind, nameProblem, normalizeName } from '@baton/protocol'
import type { SchemaValidateFunction } from 'ajv'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TObject, TSchema } from 'typebox'
import { invalid } from './errors.ts'

const ajv = new Ajv2020({ allErrors: true, removeAdditional: false, coerceTypes: false, verbose: true })
addFormats.default(ajv)
ajv.addVocabulary(['x-message'])
// Names are normalised in place, before their length is checked, so that verbs get what is stored.
ajv.addKeyword({ keyword: 'x-name', type: 'string', modifying: true, before: 'maxLength', validate: checkName })

/** Of thousands of invalid fields only some are reported. */
const maxFieldsReported = 100

export type Check = (value: unknown) => void

export const bodyCheck = (schema: TSchema): Check => check(compiled(schema))

/** One message per invalid field, for a verb that replaces or adds messages. */
export function bodyProblems(schema: TSchema): (value: unknown) => Map<string, string> {
  const validate = compiled(schema)
  return (value) => problems(validate(), value)
}

/** A query string has only text, so integers and booleans are converted first. */
export function queryCheck(schema: TObject): Check {
  const checkValues = check(compiled(schema))
  const kinds = Object.entries(schema.properties).map(([name, property]) => [
    name,
    (property as { type?: string }).type,
  ])
  return (value) => {
    const query = value as Record<string, unknown>
    for (const [name, kind] of kinds as [string, string | undefined][]) {
      const text = query[name]
      if (kind === 'integer' && typeof text === 'string' && /^-?\d{1,15}$/.test(text)) query[name] = Number(text)
      if (kind === 'boolean' && (text === 'true' || text === 'false')) query[name] = text === 'true'
    }
    checkValues(query)
  }
}

function checkName(...[kind, text, , at]: Parameters<SchemaValidateFunction>): boolean {
  const name = normalizeName(text)
  if (at) at.parentData[at.parentDataProperty] = name
  const message = nameProblem(name, kind as NameKind)
  const report: SchemaValidateFunction = checkName
  report.errors = message ? [{ keyword: 'x-name', params: {}, message }] : []
  return message === undefined
}

/** Compiled at first use: compiling all schemas takes a tenth of the start time. */
function compiled(schema: TSchema): () => ValidateFunction {
  let validate: ValidateFunction | undefined
  return () => {
    validate ??= ajv.compile(schema)
    return validate
  }
}

function check(validate: () => ValidateFunction): Check {
  return (value) => {
    const fields = problems(validate(), value)
    // fromEntries defines own properties, so a field called __proto__ is harmless.
    if (fields.size > 0) throw invalid(Object.fromEntries(fields))
  }
}

function problems(validate: ValidateFunction, value: unknown): Map<string, string> {
  const fields = new Map<string, string>()
  if (!validate(value)) {
    for (const error of validate.errors ?? []) {
      for (const path of fieldsOf(error)) {
        if (!fields.has(path) && !(isAlternative(error) && hasFieldBelow(fields, path)))
          fields.set(path, messageOf(error))
      }
      if (fields.size >= maxFieldsReported) break
    }
  }
  for (const [path, message] of badText(value, '')) {
    if (fields.size >= maxFieldsReported) break
    if (!fields.has(path)) fields.set(path, message)
  }
  return fields
}

/** That an object is not null either says less than which of its fields is wrong. */
const isAlternative = ({ keyword, params }: ErrorObject) =>
  keyword === 'anyOf' || (keyword === 'type' && params.type === 'null')

const hasFieldBelow = (fields: Map<string, string>, path: string) =>
  [...fields.keys()].some((field) => field.startsWith(`${path}.`))

const join = (path: string, name: string | number) => (path ? `${path}.${name}` : String(name))

/** A list of plain values is one field; a list of objects has the fields of its objects. */
const plainItem = /^(.+)\/(\d+)$/
const isPlain = (value: unknown) => typeof value !== 'object' || value === null

function fieldsOf({ instancePath, keyword, params, parentSchema, data }: ErrorObject): string[] {
  const path = ((isPlain(data) && plainItem.exec(instancePath)?.[1]) || instancePath)
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
  if (keyword === 'required') return missing(parentSchema as Shape, params.missingProperty, path)
  if (keyword === 'additionalProperties') return [join(path, params.additionalProperty)]
  return [path || 'body']
}

type Shape = { properties?: Record<string, Shape>; required?: string[] } | undefined

/** For a missing object: its required fields. */
function missing(shape: Shape, name: string, path: string): string[] {
  const field = join(path, name)
  const inside = shape?.properties?.[name]
  return inside?.required?.flatMap((one) => missing(inside, one, field)) ?? [field]
}

function messageOf(error: ErrorObject): string {
  const at = isPlain(error.data) ? plainItem.exec(error.instancePath)?.[2] : undefined
  return at === undefined ? complaintOf(error) : ofItem(Number(at), complaintOf(error))
}

export const ofItem = (index: number, complaint: string) => `item ${index + 1} ${complaint}`

function complaintOf({ keyword, params, schema, parentSchema, message = 'is not valid' }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not a known field'
  if (keyword === 'x-name') return message
  const written = ((keyword === 'not' ? schema : parentSchema) as { 'x-message'?: string } | undefined)?.['x-message']
  if (written) return written
  switch (keyword) {
    case 'enum':
      return `must be one of: ${params.allowedValues.join(', ')}`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minItems':
      return `must have at least ${params.limit} items`
    case 'maxItems':
      return `must have at most ${params.limit} items`
    case 'type':
      return `must be ${article(params.type)}`
    default:
      return message
  }
}

const article = (type: string) => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`)

/** Text that PostgreSQL cannot store, or would store changed. */
function* badText(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string') {
    const problem = textProblem(value)
    if (problem) yield [path || 'body', problem]
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) {
      if (!Array.isArray(value) || !isPlain(item)) yield* badText(item, join(path, key))
      else for (const [field, problem] of badText(item, path)) yield [field, ofItem(Number(key), problem)]
    }
  }
}

export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character NUL'
  if (/\p{Surrogate}/u.test(text)) return 'must be well-formed Unicode'
  return undefined
}
