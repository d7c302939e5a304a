import { createHmac } from 'node:crypto'
import { verifyWebhook } from '@baton/sdk'

export interface Step {
  step: 'signature_present' | 'signature_fits' | 'is_json' | 'is_fresh'
  ok: boolean
  problem?: string
  advice?: string
}

interface Saved {
  rawBody: Uint8Array
  signature: string
  secret: string
  now: Date
  toleranceMs: number
}

/** Verifies step by step up to the first failure, and guesses its cause. */
export function examine(saved: Saved): Step[] {
  const { rawBody, signature, secret, now, toleranceMs } = saved
  const verified = verifyWebhook({ rawBody, signature, secret, now, toleranceMs })
  const shape = shapeProblem(signature)
  if (shape) return [{ step: 'signature_present', ok: false, ...shape }]
  const present: Step = { step: 'signature_present', ok: true }
  const reason = verified.ok ? null : verified.reason
  if (reason === 'bad_signature') return [present, { step: 'signature_fits', ok: false, ...guess(saved) }]
  const fits: Step = { step: 'signature_fits', ok: true }
  if (reason === 'not_json') {
    const problem = 'the signature is valid, but the body is not a JSON object with type, data and webhook_timestamp.'
    return [present, fits, { step: 'is_json', ok: false, problem }]
  }
  const json: Step = { step: 'is_json', ok: true }
  if (reason === 'stale_timestamp') return [present, fits, json, { step: 'is_fresh', ok: false, ...age(saved) }]
  return [present, fits, json, { step: 'is_fresh', ok: true }]
}

function shapeProblem(signature: string) {
  if (signature === '')
    return { problem: 'the signature is missing.', advice: 'Give --signature with the value of Svc-Signature.' }
  if (/^[0-9a-f]{64}$/.test(signature)) return null
  const problem = `a signature has 64 characters of 0-9 and a-f; this one is ${JSON.stringify(signature.slice(0, 80))}.`
  if (/^sha256=/.test(signature)) return { problem, advice: 'Remove the prefix sha256=.' }
  if (/^[0-9A-F]{64}$/i.test(signature)) return { problem, advice: 'Use lower case, as it was sent.' }
  if (/^[\w+/-]{43}=?$/.test(signature))
    return { problem, advice: 'This looks like base64. Use the hexadecimal value.' }
  return { problem, advice: 'Copy the value of Svc-Signature unchanged.' }
}

const hmac = (bytes: Uint8Array | string, secret: string) => createHmac('sha256', secret).update(bytes).digest('hex')

/** Finds the change of body or secret that would make the signature match. */
function guess({ rawBody, signature, secret }: Saved): { problem: string; advice: string } {
  const bytes = Buffer.from(rawBody)
  const matches = (body: Uint8Array | string, key = secret) => hmac(body, key) === signature
  for (const text of rewritten(bytes)) {
    if (matches(text)) {
      return {
        problem:
          'the body was changed: it was parsed and serialized again. As Baton serializes it, the signature would match.',
        advice: 'Use the raw body, for example with express.raw() instead of express.json().',
      }
    }
  }
  if (matches(trimmed(bytes)) || matches(Buffer.concat([bytes, Buffer.from('\n')]))) {
    return {
      problem: 'the body was changed: white space was added or removed at the end.',
      advice: 'Save the bytes unchanged; editors add a line feed at the end of a file.',
    }
  }
  if (
    matches(bytes, secret.replace(/^pwhsec_/, '')) ||
    matches(bytes, `pwhsec_${secret}`) ||
    matches(bytes, secret.trim())
  ) {
    return {
      problem: 'the secret is incomplete.',
      advice: 'Use the whole secret, with pwhsec_ and without spaces around it.',
    }
  }
  return {
    problem: 'the signature does not match this body and secret.',
    advice: 'The secret may have been rotated or belong to another app, or the body was changed in transit.',
  }
}

function rewritten(bytes: Buffer): string[] {
  try {
    return [JSON.stringify(JSON.parse(bytes.toString()))].filter((text) => text !== bytes.toString())
  } catch {
    return []
  }
}

const trimmed = (bytes: Buffer) => bytes.toString().trimEnd()

function age({ rawBody, now, toleranceMs }: Saved) {
  const sent = new Date(JSON.parse(Buffer.from(rawBody).toString()).webhook_timestamp)
  const seconds = Math.round((now.getTime() - sent.getTime()) / 1000)
  const distance = seconds >= 0 ? `${seconds} s before` : `${-seconds} s after`
  return {
    problem: `it was sent ${distance} ${now.toISOString()}; at most ${toleranceMs / 1000} s are allowed.`,
    advice:
      'For a saved delivery, give --at with the time of arrival. Otherwise a clock is wrong or the delivery is a replay.',
  }
}
