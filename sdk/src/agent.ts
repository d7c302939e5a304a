import type { AgentHandlers } from './agent-handlers.ts'
import { BatonClient } from './client.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Dedupe, memoryDedupe } from './dedupe.ts'
import { isBatonError } from './errors.ts'
import { EventDispatcher } from './event-dispatcher.ts'
import type { WebhookEvent } from './events.ts'
import { type Handlers, handlersOf, type Receipt } from './handlers.ts'
import { type ListenEnd, type ListenOptions, listenForDeliveries } from './listen.ts'
import type { RetryRules } from './retry.ts'
import type { Session } from './session.ts'
import { TokenManager, type TokenStore } from './tokens.ts'
import { eventIdOf, type HeadersLike, verifyWebhook, type WebhookFailure } from './webhooks.ts'

export type { AgentHandlers } from './agent-handlers.ts'
export { type Dedupe, memoryDedupe } from './dedupe.ts'
export { nodeHandler } from './handlers.ts'
export type { ListenEnd, ListenOptions } from './listen.ts'
export { type EphemeralOptions, type Option, type PostOptions, Session } from './session.ts'

export interface AgentOptions extends AgentHandlers {
  /** Starts with pwhsec_. Give several while you replace one. */
  webhookSecret: string | readonly string[]
  /** {base_url}, or the URL of the service. */
  baseUrl: string
  /** Credentials: a TokenManager; or clientId, clientSecret and store; or, for a first try, a token and its workspace. */
  tokens?: TokenManager
  clientId?: string
  clientSecret?: string
  store?: TokenStore
  token?: string
  workspaceId?: string
  /** Posted when `onCreated` posts nothing for two seconds; false for never. */
  firstThought?: string | false
  /** Posted in the session when a handler throws. The text of the error itself is never posted. */
  errorText?: string
  dedupe?: Dedupe
  /** Receives all errors, including those of handlers. Default: written to the console. */
  onError?(error: unknown, event: WebhookEvent | null): void
  fetch?: typeof globalThis.fetch
  clock?: Clock
  retries?: Partial<RetryRules>
}

export interface Agent extends Handlers {
  /** Verifies and claims a delivery; the server handlers call this. Your handler runs after it has resolved. */
  receive(delivered: { rawBody: Uint8Array; headers: HeadersLike }): Promise<Receipt>
  /** Runs the handler for an event that was claimed but not finished, for example after a crash. Does not claim it. */
  redo(event: WebhookEvent): Promise<void>
  /** A client with the tokens of an installation. */
  client(installationId: string): BatonClient
  /** Opens a session; messages that people write in it arrive at `onPrompted`. */
  open(installationId: string, on: { issue_id: string } | { comment_id: string }): Promise<Session>
  /**
   * Receives deliveries over a connection to the service, instead of at a URL. For an app with the webhook URL
   * https://listen.invalid/. Reconnects after a failure; rejects if the service refuses the app.
   */
  listen(options?: ListenOptions): Promise<ListenEnd>
  /** Resolves when no event is being processed. Use it before a process ends, and in tests. */
  settled(): Promise<void>
}

const statusOf: Record<WebhookFailure, number> = {
  missing_signature: 401,
  bad_signature: 401,
  stale_timestamp: 400,
  not_json: 400,
  unknown_event: 200,
}

/** Creates an agent from your handlers. Mount `fetch`, `node`, `express` or `fastify` of the result in your server. */
export function createAgent(options: AgentOptions): Agent {
  const { clock = systemClock, dedupe = memoryDedupe() } = options
  const report = reporterOf(options)
  const { clientOf, discard, installations } = clientsOf(options)
  const dispatcher = new EventDispatcher({
    handlers: options,
    clock,
    firstThought: options.firstThought ?? 'Looking into it.',
    errorText: options.errorText ?? 'Something went wrong on my side. Please try again.',
    clientOf,
    discard,
    report,
  })
  const running = new Set<Promise<void>>()
  const begin = (event: WebhookEvent, again = false) => {
    // The service waits 5 s at most (delivery.deadline-5s), so it is answered before the work starts.
    const done = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => dispatcher.dispatch(event, again))
      .then(() => dedupe.finish?.(eventIdOf(event)))
      .catch((error) => report(error, event))
      .finally(() => running.delete(done))
    running.add(done)
    return done
  }
  const receive = receiver(options.webhookSecret, clock, dedupe, begin, report)
  return {
    ...handlersOf(receive, (error) => report(error, null)),
    receive,
    redo: (event) => begin(event, true),
    client: clientOf,
    open: async (id, on) => dispatcher.opened(id, await clientOf(id).openAgentSession(on)),
    async listen(listenOptions = {}) {
      const id = listenOptions.installationId ?? (await onlyOne(installations))
      const client = clientOf(id)
      return listenForDeliveries({ ...listenOptions, client, clock, receive, report: (error) => report(error, null) })
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

type Report = (error: unknown, event: WebhookEvent | null) => void

function receiver(
  secret: AgentOptions['webhookSecret'],
  clock: Clock,
  dedupe: Dedupe,
  begin: (event: WebhookEvent) => Promise<void>,
  report: Report,
): Agent['receive'] {
  // A missing secret throws now, not at the first delivery.
  verifyWebhook({ rawBody: '', signature: '-', secret })
  return async ({ rawBody, headers }) => {
    const verified = verifyWebhook({ rawBody, headers, secret, now: clock.now() })
    if (!verified.ok) return { status: statusOf[verified.reason], outcome: verified.reason }
    const { event } = verified
    try {
      if (!(await dedupe.claim(eventIdOf(event), event))) return { status: 200, outcome: 'duplicate' }
    } catch (error) {
      report(error, event)
      return { status: 500, outcome: 'not_claimed' }
    }
    return { status: 200, outcome: 'accepted', done: begin(event) }
  }
}

/** An error that `onError` throws must not stop the agent. */
function reporterOf({ onError = toConsole }: AgentOptions): Report {
  return (error, event) => {
    try {
      onError(error, event)
    } catch (thrown) {
      toConsole(thrown)
    }
  }
}

function clientsOf(options: AgentOptions) {
  const { baseUrl, fetch, clock, retries, token, workspaceId, clientId, clientSecret, store } = options
  const shared = { baseUrl, ...(fetch && { fetch }), ...(clock && { clock }), ...(retries && { retries }) }
  if (token !== undefined) {
    if (!workspaceId) throw new TypeError('createAgent needs workspaceId together with token.')
    const client = new BatonClient({ ...shared, token, workspaceId })
    return { clientOf: () => client, discard: async () => {}, installations: async () => [''] }
  }
  if (!options.tokens && !(clientId && clientSecret && store)) {
    throw new TypeError('createAgent needs tokens; or clientId, clientSecret and store; or token and workspaceId.')
  }
  const tokens =
    options.tokens ??
    new TokenManager({
      ...shared,
      clientId: clientId as string,
      clientSecret: clientSecret as string,
      store: store as TokenStore,
    })
  const clients = new Map<string, BatonClient>()
  const clientOf = (id: string) => {
    const client = clients.get(id) ?? new BatonClient({ ...shared, tokenProvider: tokens.provider(id) })
    clients.set(id, client)
    return client
  }
  const discard = (id: string) => {
    clients.delete(id)
    return tokens.discard(id)
  }
  return { clientOf, discard, installations: tokens.installations }
}

async function onlyOne(installations: () => Promise<string[]>): Promise<string> {
  const ids = await installations()
  if (ids.length === 1) return ids[0] as string
  throw new TypeError(`agent.listen needs installationId: the token store lists ${ids.length} installations.`)
}

function toConsole(error: unknown) {
  // Without a stack: the code is not at fault, and every delivery reports it until a manager installs the app.
  if (isBatonError(error, 'REINSTALL_NEEDED')) {
    console.error(`[baton] ${error.details.installation_id}: ${error.message}`)
  } else if (isBatonError(error, 'OAUTH_ERROR') && error.details.error === 'invalid_client') {
    console.error(
      '[baton] clientId or clientSecret is wrong. Get a new secret on the app page, or with `baton apps rotate client`.',
    )
  } else console.error('[baton]', error)
}
