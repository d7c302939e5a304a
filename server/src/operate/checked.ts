import { randomBytes } from 'node:crypto'
import { api } from '@baton/protocol'
import { Type } from 'typebox'
import { ApiError } from '../http/errors.ts'
import { bodyCheck } from '../http/validate.ts'
import { type Call, UsageError } from './command.ts'

const schemas = {
  email: api.signUp.body.properties.email,
  name: api.signUp.body.properties.name,
  password: api.signUp.body.properties.password,
  workspace: api.createWorkspace.body.properties.name,
  role: api.updateMember.body.properties.role,
}

const checks = new Map(
  Object.entries(schemas).map(([field, schema]) => [field, bodyCheck(Type.Object({ [field]: schema }))]),
)

/** Checks a value by the rules of the API, and returns it in the form that is stored. */
export function checked(field: keyof typeof schemas, value: string): string {
  const holder = { [field]: value }
  try {
    checks.get(field)?.(holder)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new UsageError(`${field} ${Object.values(error.details)[0]}`)
  }
  return holder[field] as string
}

export const emailOf = (call: Pick<Call, 'arguments'>) =>
  checked('email', call.arguments.text('email').trim()).toLowerCase()

/** The password from stdin, or a new one, which is shown once. Never an argument: others can list those of a process. */
export function passwordOf({ password }: Pick<Call, 'password'>): { password: string; shown: string | null } {
  if (password !== undefined) return { password: checked('password', password), shown: null }
  const made = randomBytes(15).toString('base64url')
  return { password: made, shown: made }
}
