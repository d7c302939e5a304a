import { createHmac, randomBytes } from 'node:crypto'
import type { GitKind } from '@baton/protocol'
import { sameBytes } from '../crypto.ts'
import type { Headers } from '../http/route.ts'

const prefix = 'whsec_'
/** GitLab's signature contains a time, which may differ from ours by this much. */
const maxAgeMs = 5 * 60_000

export const newGitSecret = () => `${prefix}${randomBytes(32).toString('base64')}`

/** Whether the request was signed with the secret. Bytes are compared in constant time, before anything is parsed. */
export function isSigned(kind: GitKind, headers: Headers, body: Buffer, secret: string, now: Date): boolean {
  switch (kind) {
    case 'github':
      return isHex(headerOf(headers, 'x-hub-signature-256'), 'sha256=', secret, body)
    case 'gitea':
    case 'forgejo':
      return isHex(headerOf(headers, 'x-forgejo-signature') ?? headerOf(headers, 'x-gitea-signature'), '', secret, body)
    case 'gitlab':
      return isGitlabs(headers, body, secret, now)
  }
}

/** The value of a header that was sent once; '' if it was sent empty or several times. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return value === undefined || typeof value === 'string' ? value : ''
}

function isHex(signature: string | undefined, start: string, secret: string, body: Buffer) {
  const hex = signature?.startsWith(start) ? signature.slice(start.length) : ''
  const expected = createHmac('sha256', secret).update(body).digest()
  return sameBytes(/^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, 'hex') : Buffer.alloc(0), expected)
}

/** A request with a signature needs a valid one: a token beside it does not count. */
function isGitlabs(headers: Headers, body: Buffer, secret: string, now: Date) {
  const [id, timestamp] = [headerOf(headers, 'webhook-id') ?? '', headerOf(headers, 'webhook-timestamp') ?? '']
  // Computed also without a signature, so that the time of a refusal does not depend on the kind of connection.
  const expected = createHmac('sha256', Buffer.from(secret.slice(prefix.length), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest()
  const signatures = headerOf(headers, 'webhook-signature')
  if (signatures === undefined) {
    return sameBytes(Buffer.from(headerOf(headers, 'x-gitlab-token') ?? ''), Buffer.from(secret))
  }
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN
  const isValid = signatures
    .split(' ')
    .slice(0, 10)
    .some((one) => one.startsWith('v1,') && sameBytes(Buffer.from(one.slice(3), 'base64'), expected))
  return isValid && Math.abs(now.getTime() - sentAt) <= maxAgeMs
}
