import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TSchema } from 'typebox'
import { invalid } from './errors.ts'

const strict = { allErrors: true, removeAdditional: false, verbose: true } as const

// Bodies are taken as they are; a query string has only text, so its numbers and booleans are read from it.
const body = new Ajv2020({ ...strict, coerceTypes: false })
const query = new Ajv2020({ ...strict, coerceTypes: true, useDefaults: true })
for (const ajv of [body, query]) {
  addFormats.default(ajv)
  ajv.addVocabulary(['x-message'])
}

export type Check = (value: unknown) => void

export const bodyCheck = (schema: TSchema): Check => check(body.compile(schema))
export const queryCheck = (schema: TSchema): Check => check(query.compile(schema))

function check(validate: ValidateFunction): Check {
  return (value) => {
    const fields = new Map<string, string>()
    if (!validate(value)) {
      for (const error of validate.errors ?? []) {
        const path = fieldOf(error)
        if (!fields.has(path)) fields.set(path, messageOf(error))
      }
    }
    for (const [path, message] of badText(value, '')) if (!fields.has(path)) fields.set(path, message)
    // fromEntries defines own properties, so that a field called __proto__ is only a name.
    if (fields.size > 0) throw invalid(Object.fromEntries(fields))
  }
}

const join = (path: string, name: string | number) => (path ? `${path}.${name}` : String(name))

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
  if (keyword === 'required') return join(path, params.missingProperty)
  if (keyword === 'additionalProperties') return join(path, params.additionalProperty)
  return path || 'body'
}

function messageOf({ keyword, params, parentSchema, message = 'is not valid' }: ErrorObject): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not a known field'
  const written = (parentSchema as { 'x-message'?: string } | undefined)?.['x-message']
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

/** Text that PostgreSQL cannot hold, or that would come back changed. */
function* badText(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string') {
    const problem = textProblem(value)
    if (problem) yield [path || 'body', problem]
  } else if (value !== null && typeof value === 'object') {
    for (const [key, item] of Object.entries(value)) yield* badText(item, join(path, key))
  }
}

export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the character NUL'
  if (/\p{Surrogate}/u.test(text)) return 'must be well-formed Unicode'
  return undefined
}
