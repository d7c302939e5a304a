import { setTimeout as sleep } from 'node:timers/promises'
import { BatonError, isBatonError } from '@baton/sdk'
import { eventsOf } from '@baton/sdk/event-stream'
import type { Account } from './account.ts'
import { Failure } from './failure.ts'
import { type Attempt, beginningOf, type Forwarded, forward } from './forward.ts'

interface RelayOptions {
  account: Account
  appId: string
  forwardTo: string
  takeOver: boolean
  /** The program may be about to start: who is not there yet is tried again while there is time. */
  patient?: boolean
  signal: AbortSignal
  on: RelayEvents
}

export interface RelayEvents {
  ready(): void
  forwarded(attempt: Attempt, outcome: Forwarded): void
  /** The connection is gone, and another is tried after so long. */
  lost(why: string, pauseMs: number): void
  /** Something came that cannot be handed on. */
  ignored(why: string): void
}

/** Why nothing comes any more: somebody else listens, or there is nothing to listen to. */
export type RelayEnd = { end: 'replaced'; by: string } | { end: 'ended' } | { end: 'interrupted' }

/** The service says something every 15 s; after two that are missing the connection is dead. */
const silenceMs = 40_000
const firstPauseMs = 500
const longestPauseMs = 15_000

/** Takes an app's attempts in place of its URL and makes them here, until told to stop. */
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

/** One connection: how listening ended, or why it was lost. */
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
      if (event === 'attempt') void take(options, understood(data))
      if (event === 'replaced') return { end: 'replaced', by: nameIn(understood(data)) }
      if (event === 'ended') return { end: 'ended' }
    }
    return 'The service closed the connection.'
  } catch (error) {
    if (error instanceof BatonError || error instanceof Failure) throw error
    return controller.signal.aborted ? 'The service has fallen silent.' : 'The connection was lost.'
  } finally {
    clearTimeout(silence)
    options.signal.removeEventListener('abort', stop)
    controller.abort()
  }
}

const nameIn = ({ user }: { user?: { name?: string } | string }) =>
  typeof user === 'string' ? user : (user?.name ?? 'somebody else')

/** A refusal is final; a service that cannot answer now is asked again. */
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
    return isStream ? response.body : 'What answers there is not Baton, or not now.'
  }
  const text = await beginningOf(response, 64_000)
  if (response.status >= 500 || response.status === 429) return `The service answered ${response.status}.`
  throw refusal(response.status, text)
}

function refusal(status: number, text: string): Failure {
  const said: { code?: string; message?: string } = understood(text)
  const { code = 'UNEXPECTED_ANSWER', message = `The service answered ${status}.` } = said
  const advice =
    code === 'FORBIDDEN'
      ? 'Whoever registered an app with the webhook URL https://listen.invalid/ may listen; for another URL it takes a manager and --take-over.'
      : null
  return new Failure(message, { code, advice })
}

/** What the service means; nothing if it cannot be understood. */
function understood(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

/** Several at once; what becomes of one is no concern of another, nor of the connection. */
async function take(options: RelayOptions, given: Partial<Attempt>) {
  const { attempt_id, delivery_id, body, headers } = given
  const isWhole = [attempt_id, delivery_id, body].every((part) => typeof part === 'string') && headers
  try {
    if (!isWhole) throw new Error('parts of it are missing')
    await handle(options, given as Attempt)
  } catch (error) {
    options.on.ignored(`A delivery could not be handed on: ${(error as Error).message}.`)
  }
}

async function handle({ account, appId, forwardTo, patient = false, on }: RelayOptions, attempt: Attempt) {
  const outcome = await forward(attempt, forwardTo, { patient })
  on.forwarded(attempt, outcome.answer ? { ...outcome, late: !(await answer(outcome.answer)) } : outcome)

  async function answer(said: { status: number; body: string }): Promise<boolean> {
    try {
      await account.client.answerAttempt(
        { app_id: appId, attempt_id: attempt.attempt_id, ...said },
        { repeatable: true, timeoutMs: 5000 },
      )
      return true
    } catch (error) {
      // 404: it was over by then. Anything else comes to the same for whoever looks at the delivery.
      if (isBatonError(error)) return false
      throw error
    }
  }
}
