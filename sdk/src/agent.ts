import { BatonClient } from './client.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Dedupe, memoryDedupe } from './dedupe.ts'
import { isBatonError } from './errors.ts'
import type {
  AppRevoked,
  CommentEvent,
  IssueEvent,
  PermissionChange,
  Ping,
  ProjectEvent,
  SessionCreated,
  SessionPrompted,
  WebhookEvent,
} from './events.ts'
import { type Handlers, handlersOf, type Receipt } from './handlers.ts'
import type { RetryRules } from './retry.ts'
import type { Session } from './session.ts'
import { TokenManager, type TokenStore } from './tokens.ts'
import { eventIdOf, type HeadersLike, verifyWebhook, type WebhookFailure } from './webhooks.ts'
import { Work } from './work.ts'

export { type Dedupe, memoryDedupe } from './dedupe.ts'
export { nodeHandler } from './handlers.ts'
export { type Option, type PassingOptions, type SayOptions, Session } from './session.ts'

/** A text that a handler returns is posted as its response. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler may just as well return nothing
type Said = string | void | Promise<string | void>
type Heard = unknown | Promise<unknown>

export interface AgentHandlers {
  /** Somebody delegated an issue to the agent or mentioned it. Runs once for each session. */
  onCreated(session: Session, event: SessionCreated): Said
  /** Somebody wrote in a session or answered a question. One at a time in each session, in the order written. */
  onPrompted?(session: Session, event: SessionPrompted): Said
  /** Somebody pressed Stop. What ran was aborted; there is a minute for a last word. Says "Stopped." if you leave it out. */
  onStop?(session: Session, event: SessionPrompted): Said
  onPermissionChange?(event: PermissionChange): Heard
  /** The app was uninstalled; its tokens have been discarded. */
  onRevoked?(event: AppRevoked): Heard
  onIssue?(event: IssueEvent): Heard
  onComment?(event: CommentEvent): Heard
  onProject?(event: ProjectEvent): Heard
  onPing?(event: Ping): Heard
}

export interface AgentOptions extends AgentHandlers {
  /** Begins pwhsec_; several while one is being replaced. */
  webhookSecret: string | readonly string[]
  /** {base_url}, or the address of the service. */
  baseUrl: string
  /** How it calls the service: a TokenManager, or what one is made of, or for a first try a token and its workspace. */
  tokens?: TokenManager
  clientId?: string
  clientSecret?: string
  store?: TokenStore
  token?: string
  workspaceId?: string
  /** Said by itself when `onCreated` says nothing for two seconds; false for never. */
  firstThought?: string | false
  /** Said in the session when a handler throws. Nothing of the error itself is. */
  errorText?: string
  dedupe?: Dedupe
  /** What went wrong, a handler's errors included. Goes to the console if you leave it out. */
  onError?(error: unknown, event: WebhookEvent | null): void
  fetch?: typeof globalThis.fetch
  clock?: Clock
  retries?: Partial<RetryRules>
}

export interface Agent extends Handlers {
  /** What every handler does: verify, claim, answer. Work begins after this has resolved. */
  receive(delivered: { rawBody: Uint8Array; headers: HeadersLike }): Promise<Receipt>
  /** Does the work of an event that was claimed and not finished, such as before a crash. It is not claimed again. */
  redo(event: WebhookEvent): Promise<void>
  /** A client that acts for an installation. */
  client(installationId: string): BatonClient
  /** Opens a session of the agent's own; what people write in it comes to `onPrompted`. */
  open(installationId: string, on: { issue_id: string } | { comment_id: string }): Promise<Session>
  /** Resolves when nothing is being worked on: before a process ends, and in tests. */
  settled(): Promise<void>
}

const statusOf: Record<WebhookFailure, number> = {
  missing_signature: 401,
  bad_signature: 401,
  stale_timestamp: 400,
  not_json: 400,
  unknown_event: 200,
}

/** An agent: what it does when people hand it work. Give one of its handlers to your server. */
export function createAgent(options: AgentOptions): Agent {
  const { clock = systemClock, dedupe = memoryDedupe() } = options
  const report = reporterOf(options)
  const { clientOf, discard } = clientsOf(options)
  const work = new Work({
    handlers: options,
    clock,
    firstThought: options.firstThought ?? 'Looking into it.',
    errorText: options.errorText ?? 'Something went wrong on my side. Please try again.',
    clientOf,
    discard,
    report,
  })
  const underWay = new Set<Promise<void>>()
  const begin = (event: WebhookEvent, again = false) => {
    // 4.7: the service is answered first.
    const done = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => work.do(event, again))
      .then(() => dedupe.finish?.(eventIdOf(event)))
      .catch((error) => report(error, event))
      .finally(() => underWay.delete(done))
    underWay.add(done)
    return done
  }
  const receive = receiver(options.webhookSecret, clock, dedupe, begin, report)
  return {
    ...handlersOf(receive, (error) => report(error, null)),
    receive,
    redo: (event) => begin(event, true),
    client: clientOf,
    open: async (id, on) => work.opened(id, await clientOf(id).openAgentSession(on)),
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
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
  // What is missing is said now, not at the first delivery.
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

/** Whatever hears of errors must not make one. */
function reporterOf({ onError = toConsole }: AgentOptions): Report {
  return (error, event) => {
    try {
      onError(error, event)
    } catch (another) {
      toConsole(another)
    }
  }
}

function clientsOf(options: AgentOptions) {
  const { baseUrl, fetch, clock, retries, token, workspaceId, clientId, clientSecret, store } = options
  const shared = { baseUrl, ...(fetch && { fetch }), ...(clock && { clock }), ...(retries && { retries }) }
  if (token !== undefined) {
    if (!workspaceId) throw new TypeError('createAgent needs the workspaceId that the token is for.')
    const client = new BatonClient({ ...shared, token, workspaceId })
    return { clientOf: () => client, discard: async () => {} }
  }
  if (!options.tokens && !(clientId && clientSecret && store)) {
    throw new TypeError('createAgent needs tokens, or clientId, clientSecret and store, or a token.')
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
  return { clientOf, discard }
}

function toConsole(error: unknown) {
  // Nothing in the code is at fault, and every delivery says it again until somebody installs the app.
  if (isBatonError(error, 'REINSTALL_NEEDED')) {
    console.error(`[baton] ${error.details.installation_id}: ${error.message}`)
  } else console.error('[baton]', error)
}
