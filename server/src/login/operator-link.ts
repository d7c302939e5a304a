import { accountLimits } from '@baton/protocol'
import { minutes, plus } from '../clock.ts'
import { type Keyring, sameBytes } from '../crypto.ts'

/** An operator's link has all it says in itself, so that none of the database is needed to create one. */
export interface OperatorLink {
  email: string
  issuedAt: Date
}

const prefix = 'operator.'
const purpose = 'operator reset link'
const lifetimeMs = minutes(accountLimits.resetLinkMinutes)

export function signOperatorLink(keys: Keyring, { email, issuedAt }: OperatorLink): string {
  const content = Buffer.from(JSON.stringify([email, issuedAt.getTime()])).toString('base64url')
  return `${prefix}${content}.${keys.mac(purpose, content).toString('base64url')}`
}

export const isOperatorLink = (token: string) => token.startsWith(prefix)

/** Undefined if it was signed with another key, was changed, or has expired. */
export function readOperatorLink(keys: Keyring, token: string, now: Date): OperatorLink | undefined {
  const [content = '', mac = '', ...rest] = token.slice(prefix.length).split('.')
  const expected = keys.mac(purpose, content)
  const given = Buffer.from(mac, 'base64url')
  if (rest.length > 0 || given.toString('base64url') !== mac || !sameBytes(given, expected)) return undefined
  const [email, issuedMs] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, number]
  const issuedAt = new Date(issuedMs)
  return plus(issuedAt, lifetimeMs) > now ? { email, issuedAt } : undefined
}
