import type { Clock } from '../clock.ts'

export interface TrustedRequest {
  url: string
  headers: Record<string, string>
  body: string
  /** For the whole request, including the body. */
  deadlineMs: number
  maxBodyBytes: number
  aborted: AbortSignal
}

export type TrustedOutcome =
  | { ok: true; status: number; headers: Headers; body: Buffer }
  | { ok: false; reason: 'timeout' | 'network_error' | 'too_large' }

/**
 * Posts to an address that the operator configured. It may be in any network, also in those that GuardedClient refuses,
 * but redirects are not followed, because the operator did not configure their target. Throws only if aborted.
 */
export async function sendTrusted(clock: Clock, request: TrustedRequest): Promise<TrustedOutcome> {
  const { url, headers, body, deadlineMs, maxBodyBytes, aborted } = request
  const late = new AbortController()
  const cancel = clock.after(deadlineMs, () => late.abort())
  try {
    const signal = AbortSignal.any([aborted, late.signal])
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    const read = await readUpTo(response, maxBodyBytes)
    if (!read) return { ok: false, reason: 'too_large' }
    return { ok: true, status: response.status, headers: response.headers, body: read }
  } catch {
    aborted.throwIfAborted()
    return { ok: false, reason: late.signal.aborted ? 'timeout' : 'network_error' }
  } finally {
    cancel()
  }
}

/** Undefined if the body is longer. */
async function readUpTo({ body }: Response, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
