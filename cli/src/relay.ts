import { setTimeout as sleep } from 'node:timers/promises'
import { BatonError, isBatonError } from '@baton/sdk'
import { eventsOf } from '@baton/sdk/event-stream'
import type { Account } from './account.ts'
import { Failure } from './failure.ts'
import { type Attempt, type Forwarded, forward, readExcerpt } from './forward.ts'

interface RelayOptions {
  account: Account
  appId: string
  forwardTo: string
  takeOver: boolean
  /** Retry refused connections until the deadline, because the program may be starting. */
  retryRefused?: boolean
  signal: AbortSignal
  on: RelayEvents
}

export interface RelayEvents {
  ready(): void
  forwarded(attempt: Attempt, outcome: Forwarded): void
  /** The connection was lost; the next attempt follows after `pauseMs`. */
  lost(why: string, pauseMs: number): void
  /** A delivery could not be forwarded. */
  ignored(why: string): void
}

/** Why the relay ended: another listener replaced it, the app was deleted or got another URL, or Ctrl-C. */
export type RelayEnd = { end: 'replaced'; by: string } | { end: 'ended' } | { end: 'interrupted' }

/** The service sends a heartbeat every 15 s; after two missing ones the connection is dead. */
const silenceMs = 40_000
const firstPauseMs = 500
const longestPauseMs = 15_000

/** Receives an app's deliveries in place of its webhook URL and forwards them, until it is aborted or replaced. */
export async function relay(options: RelayOptions): Promise<RelayEnd> {
  let failures = 0
  for (;;) {
    const lost = await connection(options, () => {
      failures = 0
      options.on.ready()
    })
    if (options.signal.aborted) return { end: 'interrupted' }
    if (typeof lost !== 'string') return lost
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures++) * (0.5 + Math.random() / 2)
    options.on.lost(lost, pauseMs)
    await sleep(pauseMs, undefined, { signal: options.signal }).catch(() => {})
    if (options.signal.aborted) return { end: 'interrupted' }
  }
}

/** Runs one connection. Returns how the relay ended, or as text why the connection was lost. */
async function connection(options: RelayOptions, ready: () => void): Promise<RelayEnd | string> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  options.signal.addEventListener('abort', stop, { once: true })
  let silence = setTimeout(stop, silenceMs)
  const alive = () => {
    clearTimeout(silence)
    silence = setTimeout(stop, silenceMs)
  }
  try {
    const response = await connect(options, controller.signal)
    if (typeof response === 'string') return response
    for await (const { event, data } of eventsOf(response, alive)) {
      if (event === 'ready') ready()
      if (event === 'attempt') void handleAttempt(options, parsedObject(data))
      if (event === 'replaced') return { end: 'replaced', by: nameIn(parsedObject(data)) }
      if (event === 'ended') return { end: 'ended' }
    }
    return 'The service closed the connection.'
  } catch (error) {
    if (error instanceof BatonError || error instanceof Failure) throw error
    return controller.signal.aborted ? 'The service sends no heartbeat.' : 'The connection was lost.'
  } finally {
    clearTimeout(silence)
    options.signal.removeEventListener('abort', stop)
    controller.abort()
  }
}

const nameIn = ({ user }: { user?: { name?: string } | string }) =>
  typeof user === 'string' ? user : (user?.name ?? 'Another user')

/** Throws if the service refuses. Returns text if a later attempt may succeed. */
async function connect({ account, appId, takeOver }: RelayOptions, signal: AbortSignal) {
  const path = `/agent-apps/${encodeURIComponent(appId)}/listen${takeOver ? '?take_over=true' : ''}`
  const response = await fetch(`${account.baseUrl}${path}`, {
    headers: {
      authorization: `Bearer ${account.token}`,
      'x-workspace-id': account.workspace.id,
      accept: 'text/event-stream',
    },
    redirect: 'manual',
    signal,
  })
  if (response.ok && response.body) {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    return isStream ? response.body : 'The response is not an event stream of Baton.'
  }
  const text = await readExcerpt(response, 64_000)
  if (response.status >= 500 || response.status === 429) return `The service answered ${response.status}.`
  throw refusal(response.status, text)
}

function refusal(status: number, text: string): Failure {
  const body: { code?: string; message?: string } = parsedObject(text)
  const { code = 'UNEXPECTED_ANSWER', message = `The service answered ${status}.` } = body
  const advice =
    code === 'FORBIDDEN'
      ? 'Only the user who registered an app with the webhook URL https://listen.invalid/ can listen. For another URL you must be a manager and give --take-over.'
      : null
  return new Failure(message, { code, advice })
}

/** An empty object if `text` is not a JSON object. */
function parsedObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Attempts run concurrently; a failure affects neither the others nor the connection. */
async function handleAttempt(options: RelayOptions, given: Partial<Attempt>) {
  const { attempt_id, delivery_id, body, headers } = given
  const isComplete = [attempt_id, delivery_id, body].every((part) => typeof part === 'string') && headers
  try {
    if (!isComplete) throw new Error('fields are missing')
    await forwardAttempt(options, given as Attempt)
  } catch (error) {
    options.on.ignored(`A delivery could not be forwarded: ${(error as Error).message}.`)
  }
}

async function forwardAttempt({ account, appId, forwardTo, retryRefused = false, on }: RelayOptions, attempt: Attempt) {
  const outcome = await forward(attempt, forwardTo, { retryRefused })
  on.forwarded(attempt, outcome.answer ? { ...outcome, late: !(await answer(outcome.answer)) } : outcome)

  async function answer(response: { status: number; body: string }): Promise<boolean> {
    try {
      await account.client.answerAttempt(
        { app_id: appId, attempt_id: attempt.attempt_id, ...response },
        { repeatable: true, timeoutMs: 5000 },
      )
      return true
    } catch (error) {
      // 404: the attempt had timed out. Other errors have the same effect: the delivery failed.
      if (isBatonError(error)) return false
      throw error
    }
  }
}
