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

/** 5.8 one step after the other, up to the first that fails; with what it probably was. */
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
    const problem = 'the bytes are signed, but are no JSON object with a type, data and webhook_timestamp.'
    return [present, fits, { step: 'is_json', ok: false, problem }]
  }
  const json: Step = { step: 'is_json', ok: true }
  if (reason === 'stale_timestamp') return [present, fits, json, { step: 'is_fresh', ok: false, ...age(saved) }]
  return [present, fits, json, { step: 'is_fresh', ok: true }]
}

function shapeProblem(signature: string) {
  if (signature === '') return { problem: 'there is no signature.', advice: 'Give --signature, from Svc-Signature.' }
  if (/^[0-9a-f]{64}$/.test(signature)) return null
  const problem = `a signature has 64 of the digits 0-9a-f; this one is ${JSON.stringify(signature.slice(0, 80))}.`
  if (/^sha256=/.test(signature)) return { problem, advice: 'Svc-Signature has no sha256= in front.' }
  if (/^[0-9A-F]{64}$/i.test(signature)) return { problem, advice: 'Hexadecimal digits in lower case, as it was sent.' }
  if (/^[\w+/-]{43}=?$/.test(signature)) return { problem, advice: 'This looks like base64; it has to be hexadecimal.' }
  return { problem, advice: 'Copy Svc-Signature as it came.' }
}

const hmac = (bytes: Uint8Array | string, secret: string) => createHmac('sha256', secret).update(bytes).digest('hex')

/** What would fit says what went wrong. */
function guess({ rawBody, signature, secret }: Saved): { problem: string; advice: string } {
  const bytes = Buffer.from(rawBody)
  const fits = (body: Uint8Array | string, key = secret) => hmac(body, key) === signature
  for (const text of rewritten(bytes)) {
    if (fits(text)) {
      return {
        problem:
          'the bytes were changed: they were parsed and written out again. Written as Baton does, they would fit.',
        advice: 'Take the raw body before anything parses it, such as express.raw() instead of express.json().',
      }
    }
  }
  if (fits(trimmed(bytes)) || fits(Buffer.concat([bytes, Buffer.from('\n')]))) {
    return {
      problem: 'the bytes were changed: white space at the end makes the difference.',
      advice: 'Editors add a line feed at the end of a file; save the bytes as they came.',
    }
  }
  if (fits(bytes, secret.replace(/^pwhsec_/, '')) || fits(bytes, `pwhsec_${secret}`) || fits(bytes, secret.trim())) {
    return { problem: 'the secret is not whole.', advice: 'The key is all of it, with pwhsec_ and nothing around it.' }
  }
  return {
    problem: 'it is not the signature of these bytes with this secret.',
    advice: 'Was the secret replaced, or is it another app\u2019s? Or the bytes were changed on the way.',
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
  const away = seconds >= 0 ? `${seconds} s before` : `${-seconds} s after`
  return {
    problem: `it was sent ${away} ${now.toISOString()}, and ${toleranceMs / 1000} s are allowed.`,
    advice: 'For one that you saved, give --at with the time it came. Otherwise a clock is wrong, or it is a copy.',
  }
}
