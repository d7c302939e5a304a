import { OAuthError } from './errors.ts'

/** The fields of a form. RFC 6749 3.1: none may stand twice; empty ones are as if they were not there. */
export function parseForm(body: Buffer): Record<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (fields.has(name)) throw new OAuthError('invalid_request', `The parameter ${name.slice(0, 50)} stands twice.`)
    if (value !== '') fields.set(name, value)
  }
  return Object.fromEntries(fields)
}
