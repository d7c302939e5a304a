import { setTimeout as sleep } from 'node:timers/promises'

/** A delivery, as it would have been sent to the webhook URL. */
export interface Attempt {
  attempt_id: string
  delivery_id: string
  url: string
  headers: Record<string, string>
  /** The signed bytes in base64. */
  body: string
}

export interface Forwarded {
  tookMs: number
  /** The answer for the service; null if there was none in time. */
  answer: { status: number; body: string } | null
  problem: string | null
  /** The service had already timed out when it received the answer. */
  late?: boolean
}

/** The service waits five seconds for the answer (listen.no-answer-times-out). */
const forwardTimeoutMs = 4900
/** The longest body that the service accepts in an answer. */
const excerptLength = 2000

/** Headers of the original connection, which are not forwarded. */
const connectionHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

/** Sends the same bytes and headers to `to`, without following redirects. */
export async function forward(
  { headers, body }: Attempt,
  to: string,
  { retryRefused = false, timeoutMs = forwardTimeoutMs }: { retryRefused?: boolean; timeoutMs?: number } = {},
): Promise<Forwarded> {
  const started = performance.now()
  const tookMs = () => Math.round(performance.now() - started)
  const request = {
    method: 'POST',
    headers: Object.entries(headers).filter(([name]) => !connectionHeaders.has(name.toLowerCase())),
    body: Buffer.from(body, 'base64'),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  } as const
  for (;;) {
    try {
      const response = await fetch(to, request)
      const excerpt = await readExcerpt(response, excerptLength)
      return { tookMs: tookMs(), answer: { status: response.status, body: excerpt }, problem: null }
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        return { tookMs: tookMs(), answer: null, problem: 'no answer in time' }
      }
      const code = codeOf(error)
      if (retryRefused && code === 'ECONNREFUSED' && tookMs() < timeoutMs - 500) {
        await sleep(100)
        continue
      }
      // As a gateway does, instead of letting the service wait for its timeout.
      const problem = `${to} could not be reached${code ? ` (${code})` : ''}`
      return { tookMs: tookMs(), answer: { status: 502, body: problem }, problem }
    }
  }
}

/** Reads up to `length` characters of the body. An error while reading is ignored, because the status decides. */
export async function readExcerpt(response: Response, length: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= length) break
    }
  } catch {}
  return text.slice(0, length)
}

function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? cause.code : undefined
}
