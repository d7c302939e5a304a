import { setTimeout as sleep } from 'node:timers/promises'

/** One delivery as the URL would have got it. */
export interface Attempt {
  attempt_id: string
  delivery_id: string
  url: string
  headers: Record<string, string>
  /** base64 of the very bytes that were signed. */
  body: string
}

export interface Forwarded {
  tookMs: number
  /** What to tell the service; null when nothing was answered in time. */
  answer: { status: number; body: string } | null
  problem: string | null
  /** The service had given up by the time it was told. */
  late?: boolean
}

/** The service waits five seconds; what comes later than this cannot be handed on in time. */
const inTimeMs = 4900
/** As much as the service takes. */
const excerptLength = 2000

/** These belong to the connection that the attempt did not take. */
const ofTheConnection = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

/** Makes the request here: the same bytes and headers, and no redirect followed, as the service would. */
export async function forward(
  { headers, body }: Attempt,
  to: string,
  { patient = false, timeoutMs = inTimeMs }: { patient?: boolean; timeoutMs?: number } = {},
): Promise<Forwarded> {
  const started = performance.now()
  const tookMs = () => Math.round(performance.now() - started)
  const request = {
    method: 'POST',
    headers: Object.entries(headers).filter(([name]) => !ofTheConnection.has(name.toLowerCase())),
    body: Buffer.from(body, 'base64'),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  } as const
  for (;;) {
    try {
      const response = await fetch(to, request)
      const said = await beginningOf(response, excerptLength)
      return { tookMs: tookMs(), answer: { status: response.status, body: said }, problem: null }
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        return { tookMs: tookMs(), answer: null, problem: 'nothing was answered in time' }
      }
      const code = codeOf(error)
      if (patient && code === 'ECONNREFUSED' && tookMs() < timeoutMs - 500) {
        await sleep(100)
        continue
      }
      // A gateway that reaches nobody says 502, and so does this one; silence would take the service five seconds.
      const problem = `${to} could not be reached${code ? ` (${code})` : ''}`
      return { tookMs: tookMs(), answer: { status: 502, body: problem }, problem }
    }
  }
}

/** As much of the body as comes. Its status was answered, so that one which hangs or breaks off changes nothing. */
export async function beginningOf(response: Response, length: number): Promise<string> {
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
