import type { BatonClient } from './client.ts'
import { type Clock, sleep } from './clock.ts'
import { isBatonError, jsonObject } from './errors.ts'
import { eventsOf } from './event-stream.ts'
import type { Receipt } from './handlers.ts'

export interface ListenOptions {
  /** Ends listening. */
  signal?: AbortSignal
  /** Needed if the token store holds several installations or cannot list them. */
  installationId?: string
  /** The agent receives from now on. Called again after each lost connection. */
  onReady?(): void
  /** The connection was lost; the next attempt follows after `pauseMs`. */
  onLost?(why: string, pauseMs: number): void
}

/**
 * Why listening ended:
 * - `replaced`  another listener of the app receives its deliveries now
 * - `ended`     the app was uninstalled or deleted, or got another webhook URL
 * - `aborted`   by the signal
 */
export type ListenEnd = { end: 'replaced'; by: { id: string; name: string } } | { end: 'ended' } | { end: 'aborted' }

interface Listening extends ListenOptions {
  client: BatonClient
  clock: Clock
  receive(delivered: { rawBody: Uint8Array; headers: Record<string, string> }): Promise<Receipt>
  report(error: unknown): void
}

interface Attempt {
  attempt_id: string
  headers: Record<string, string>
  body: string
}

type Over = Exclude<ListenEnd, { end: 'aborted' }> | { lost: string } | { refused: unknown }

/** The service sends a heartbeat every 15 s; after two missing ones the connection is dead. */
const silenceMs = 40_000
/** The next stream is opened this long before the access token of the current one expires. */
const renewEarlyMs = 60_000
const renewAgainMs = 5000
/** A replaced stream ends by itself, after the attempts that were sent on it. */
const closeAfterMs = 10_000
const firstPauseMs = 500
const longestPauseMs = 15_000
/** The service waits this long for an answer. */
const answerMs = 5000

/** Receives the deliveries of an app whose webhook URL is https://listen.invalid/, until it is aborted or replaced. */
export async function listenForDeliveries(listening: Listening): Promise<ListenEnd> {
  const { signal, clock, onReady, onLost } = listening
  for (let failures = 0; ; failures++) {
    const over = await receiveUntilLost(listening, () => {
      failures = 0
      onReady?.()
    })
    if (signal?.aborted) return { end: 'aborted' }
    if ('refused' in over) throw over.refused
    if ('end' in over) return over
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures) * (0.5 + Math.random() / 2)
    onLost?.(over.lost, pauseMs)
    await sleep(clock, pauseMs, signal).catch(() => {})
    if (signal?.aborted) return { end: 'aborted' }
  }
}

/** Opens a stream, and the next one before the access token expires, so that no delivery is missed in between. */
async function receiveUntilLost(listening: Listening, onReady: () => void): Promise<Over> {
  const { clock, signal } = listening
  let current = new Connection(listening, { catchUp: true })
  const abort = () => current.close()
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  try {
    if (!(await current.ready)) return await current.over
    onReady()
    for (;;) {
      const renewal = renewalOf(current, clock)
      const over = await Promise.race([current.over, renewal.due])
      renewal.cancel()
      if (over) return over
      const next = new Connection(listening, { catchUp: false })
      // The new stream replaces the old one, so `replaced` on the old one does not come from another listener.
      current.isRenewed = true
      if (await next.ready) {
        const old = current
        current = next
        const cancel = clock.after(closeAfterMs, () => old.close())
        void old.over.then(cancel)
      } else {
        const failed = await next.over
        if ('refused' in failed) return failed
        current.isRenewed = false
        current.renewAt = clock.now().getTime() + renewAgainMs
      }
      if (signal?.aborted) current.close()
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    current.close()
  }
}

/** `due` resolves with undefined when the next stream has to be opened; never if the token's expiry is not known. */
function renewalOf({ renewAt }: Connection, clock: Clock) {
  let cancel = () => {}
  const due = new Promise<undefined>((resolve) => {
    if (renewAt === null) return
    cancel = clock.after(Math.max(0, renewAt - clock.now().getTime()), () => resolve(undefined))
  })
  return { due, cancel: () => cancel() }
}

class Connection {
  readonly #listening: Listening
  readonly #controller = new AbortController()
  /** Whether the stream opened. */
  readonly ready: Promise<boolean>
  readonly over: Promise<Over>
  isRenewed = false
  renewAt: number | null = null
  #becameReady: (ready: boolean) => void = () => {}

  constructor(listening: Listening, { catchUp }: { catchUp: boolean }) {
    this.#listening = listening
    this.ready = new Promise((resolve) => {
      this.#becameReady = resolve
    })
    this.over = this.#run(catchUp).finally(() => {
      this.#becameReady(false)
      this.close()
    })
  }

  close() {
    this.#controller.abort()
  }

  /** Never rejects. */
  async #run(catchUp: boolean): Promise<Over> {
    // In real time, whatever the clock of the agent: a connection is dead when the network is silent.
    let silence: ReturnType<typeof setTimeout> | undefined
    const alive = () => {
      clearTimeout(silence)
      silence = setTimeout(() => this.close(), silenceMs)
    }
    alive()
    try {
      const { client, clock } = this.#listening
      const query = catchUp ? { catch_up: true } : {}
      const { body, expiresAt } = await client.stream('listenAsApp', query, this.#controller.signal)
      if (expiresAt !== null) this.renewAt = Math.max(expiresAt - renewEarlyMs, clock.now().getTime() + renewAgainMs)
      for await (const { event, data } of eventsOf(body, alive)) {
        if (event === 'ready') this.#becameReady(true)
        if (event === 'attempt') void this.#handle(data)
        if (event === 'ended') return { end: 'ended' }
        if (event === 'replaced' && !this.isRenewed) return { end: 'replaced', by: userIn(data) }
      }
      return { lost: 'The service closed the connection.' }
    } catch (error) {
      if (isBatonError(error) && !isTemporary(error)) return { refused: error }
      return { lost: error instanceof Error ? error.message : 'The connection was lost.' }
    } finally {
      clearTimeout(silence)
    }
  }

  /** Attempts are handled concurrently; a failure affects neither the others nor the connection. */
  async #handle(data: string) {
    const { client, receive, report } = this.#listening
    try {
      const { attempt_id, headers, body } = jsonObject(data) as unknown as Attempt
      const { status, outcome } = await receive({ rawBody: Buffer.from(body, 'base64'), headers })
      const answer = { attempt_id, status, body: JSON.stringify({ outcome }) }
      await client.answerAsApp(answer, { repeatable: true, timeoutMs: answerMs })
    } catch (error) {
      // 404: the service no longer waits. It delivers the event again, and the agent recognises the duplicate.
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) report(error)
    }
  }
}

const isTemporary = ({ code, status }: { code: string; status: number }) =>
  code === 'NETWORK_ERROR' || code === 'TIMEOUT' || status === 429 || status >= 500

function userIn(data: string): { id: string; name: string } {
  const { user } = (jsonObject(data) ?? {}) as { user?: { id?: string; name?: string } }
  return { id: user?.id ?? '', name: user?.name ?? 'Another user' }
}
