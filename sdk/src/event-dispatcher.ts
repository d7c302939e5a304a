import { createHash } from 'node:crypto'
import type { AgentHandlers } from './agent-handlers.ts'
import type { BatonClient } from './client.ts'
import type { Clock } from './clock.ts'
import { isBatonError } from './errors.ts'
import type { SessionCreated, SessionPrompted, WebhookEvent } from './events.ts'
import type { AgentSession } from './operations.ts'
import { Session } from './session.ts'
import { SessionQueue } from './session-queue.ts'

export interface DispatcherOptions {
  handlers: AgentHandlers
  clock: Clock
  firstThought: string | false
  errorText: string
  clientOf(installationId: string): BatonClient
  discard(installationId: string): Promise<void>
  report(error: unknown, event: WebhookEvent): void
}

type SessionEvent = SessionCreated | SessionPrompted

/** How long a message waits for the event that opened its session, and for earlier messages. */
const waitMs = 5000
/** An event older than this is a retry or was delayed: its work may already be done or no longer wanted. */
const lateMs = 30_000
/**
 * The first thought is posted this long after the handler started without posting anything, and at the latest
 * `firstThoughtByMs` after the event (session.unresponsive-after-10s).
 */
const firstThoughtMs = 2000
const firstThoughtByMs = 7000
const queuesKept = 10_000

const stops = (event: SessionPrompted) => event.data.agent_activity.signal === 'stop'
const keyOf = (purpose: string, eventId: string) => createHash('sha256').update(`${purpose} ${eventId}`).digest('hex')

/** Calls the handler of each event. Each event arrives here once, but in any order and at any age. */
export class EventDispatcher {
  readonly #options: DispatcherOptions
  readonly #queues = new Map<string, SessionQueue>()

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  /** Resolves when the work is done or dropped; never rejects. `again`: an earlier attempt is known to be unfinished. */
  async dispatch(event: WebhookEvent, again = false): Promise<void> {
    try {
      await this.#dispatch(event, again)
    } catch (error) {
      this.#options.report(error, event)
    }
  }

  async #dispatch(event: WebhookEvent, again: boolean): Promise<unknown> {
    const { handlers } = this.#options
    switch (event.type) {
      case 'AgentSessionEvent':
        if (event.action === 'created') return this.#created(event, again)
        return stops(event) ? this.#stop(event) : this.#prompted(event)
      case 'PermissionChange': {
        const { installation_id, removed_team_ids } = event.data
        const lost = ({ installationId, teamId }: SessionQueue) =>
          installationId === installation_id && teamId !== null && removed_team_ids.includes(teamId)
        this.#endWhere(lost, 'The app was removed from the team.')
        return handlers.onPermissionChange?.(event)
      }
      case 'OAuthApp': {
        const { installation_id } = event.data
        this.#endWhere(({ installationId }) => installationId === installation_id, 'The app was uninstalled.')
        await this.#options.discard(installation_id)
        return handlers.onRevoked?.(event)
      }
      case 'Issue':
        if (event.action === 'remove')
          this.#endWhere((queue) => queue.issueId === event.data.id, 'The issue was deleted.')
        return handlers.onIssue?.(event)
      case 'Comment':
        return handlers.onComment?.(event)
      case 'Project':
        return handlers.onProject?.(event)
      case 'Ping':
        return handlers.onPing?.(event)
    }
  }

  /** Registers a session that the app opened itself: no `created` event follows. */
  opened(installationId: string, session: AgentSession): Session {
    const queue = this.#queueOf(installationId, session)
    queue.created = true
    queue.start()
    return new Session({
      session,
      installationId,
      client: this.#options.clientOf(installationId),
      signal: queue.signal,
      prompt: '',
      events: { ended: () => queue.end('The session has ended.') },
    })
  }

  #created(event: SessionCreated, again: boolean): Promise<void> | undefined {
    const queue = this.#queue(event)
    if (queue.created || queue.ended) return
    queue.created = true
    const done = queue.add({
      seq: 0,
      run: async () => {
        if (!again && !queue.worked && this.#isLate(event) && (await this.#isDone(event))) return
        await this.#handle(event, queue, queue.signal, (session) => this.#options.handlers.onCreated(session, event))
      },
    })
    queue.start()
    return done
  }

  #prompted(event: SessionPrompted): Promise<void> | undefined {
    const queue = this.#queue(event)
    if (queue.ended) return
    const done = queue.add({
      seq: event.data.agent_activity.seq,
      isNext: this.#isNextMessage(queue, event),
      run: () =>
        this.#handle(event, queue, queue.signal, (session) => this.#options.handlers.onPrompted?.(session, event)),
    })
    if (!queue.started && !queue.searching) void this.#findCreation(queue, event)
    return done
  }

  /** Events arrive out of order: waits for messages written since the agent's last activity that have not arrived. */
  #isNextMessage(queue: SessionQueue, { data, installation_id }: SessionPrompted): () => Promise<boolean> {
    const { clientOf, clock } = this.#options
    const { seq } = data.agent_activity
    let waits = seq > 1
    return async () => {
      if (!waits) return true
      const request = clientOf(installation_id ?? '').listActivities({
        session_id: data.agent_session.id,
        after_seq: Math.max(0, seq - 201),
        limit: 200,
      })
      const earlier = (await request.catch(() => ({ data: [] }))).data.filter((activity) => activity.seq < seq)
      const unanswered = earlier.slice(earlier.findLastIndex(({ author }) => author.kind === 'app') + 1)
      if (unanswered.every((activity) => queue.seen.has(activity.seq))) return true
      clock.after(waitMs, () => {
        waits = false
        void queue.next()
      })
      return false
    }
  }

  /** The `created` event may have arrived before a restart, may still arrive, or may never arrive. */
  async #findCreation(queue: SessionQueue, event: SessionPrompted) {
    queue.searching = true
    try {
      const { ended, answered } = await this.#readState(event)
      if (ended) return queue.end('The session has ended.')
      if (answered) return queue.start()
    } catch (error) {
      this.#options.report(error, event)
      if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return queue.end('The app can no longer access the session.')
    }
    this.#options.clock.after(waitMs, () => queue.start())
  }

  /** Not a job of the queue: it has to interrupt the running job. */
  async #stop(event: SessionPrompted) {
    const queue = this.#queue(event)
    if (queue.ended) return
    const ended = this.#isLate(event) && (await this.#readState(event).catch(() => null))?.ended
    if (queue.ended) return
    queue.end('A person stopped the session.')
    if (ended) return
    const { onStop } = this.#options.handlers
    await this.#handle(event, queue, new AbortController().signal, (session) =>
      onStop ? onStop(session, event) : 'Stopped.',
    )
  }

  async #handle(
    event: SessionEvent,
    queue: SessionQueue,
    signal: AbortSignal,
    handler: (session: Session) => unknown,
  ): Promise<void> {
    const reported = new Set<unknown>()
    const report = (error: unknown) => {
      if (reported.has(error)) return
      reported.add(error)
      this.#options.report(error, event)
    }
    const progress = { posted: false }
    const session = this.#session(event, queue, signal, progress, report)
    const cancelFirstThought =
      event.action === 'created' ? this.#firstThought(event, session, queue, progress) : () => {}
    try {
      const response = await handler(session)
      if (typeof response === 'string' && response !== '') await session.respond(response)
    } catch (error) {
      cancelFirstThought()
      if (signal.aborted || isBatonError(error, 'SESSION_ENDED')) return
      report(error)
      // Not the error's own text: it may contain data that the workspace must not see.
      const key = { idempotencyKey: keyOf('error', event.data.event_id) }
      await session.fail(this.#options.errorText, 'handler_failed', key).catch(() => {})
    }
  }

  /** Posts a thought if the handler posts nothing in time. Returns a function that cancels it. */
  #firstThought(
    event: SessionCreated,
    session: Session,
    queue: SessionQueue,
    progress: { posted: boolean },
  ): () => void {
    const { firstThought, clock } = this.#options
    if (firstThought === false) return () => {}
    const leftMs = Date.parse(event.created_at) + firstThoughtByMs - clock.now().getTime()
    return clock.after(Math.max(0, Math.min(firstThoughtMs, leftMs)), () => {
      if (progress.posted || queue.ended) return
      const key = { idempotencyKey: keyOf('first thought', event.data.event_id), ephemeral: true }
      session.thought(firstThought, key).catch(() => {})
    })
  }

  #session(
    event: SessionEvent,
    queue: SessionQueue,
    signal: AbortSignal,
    progress: { posted: boolean },
    failed: (error: unknown) => void,
  ): Session {
    const installationId = queue.installationId
    const metadata = event.action === 'prompted' ? event.data.agent_activity.signal_metadata : null
    return new Session({
      session: event.data.agent_session,
      client: this.#options.clientOf(installationId),
      installationId,
      signal,
      prompt: event.action === 'created' ? event.data.prompt_context : event.data.agent_activity.content.body,
      selected: Array.isArray(metadata?.selected) ? metadata.selected : [],
      events: {
        posting: () => {
          progress.posted = true
        },
        ended: () => queue.end('The session has ended.'),
        failed,
      },
    })
  }

  #isLate(event: WebhookEvent) {
    return this.#options.clock.now().getTime() - Date.parse(event.created_at) > lateMs
  }

  /** Whether the session has ended or a process of the app has already posted in it. */
  async #isDone(event: SessionCreated) {
    const found = await this.#readState(event).catch((error) => this.#options.report(error, event))
    return found ? found.ended || found.answered : false
  }

  async #readState({ data, installation_id }: SessionEvent) {
    const client = this.#options.clientOf(installation_id ?? '')
    const session_id = data.agent_session.id
    const { ended_at } = await client.getAgentSession({ session_id })
    const { data: activities } = await client.listActivities({ session_id, limit: 200 })
    return { ended: ended_at !== null, answered: activities.some(({ author }) => author.kind === 'app') }
  }

  #queue({ data, installation_id }: SessionEvent): SessionQueue {
    return this.#queueOf(installation_id ?? '', data.agent_session)
  }

  #queueOf(installationId: string, { id, issue }: AgentSession): SessionQueue {
    const known = this.#queues.get(id)
    if (known) return known
    const queue = new SessionQueue({ installationId, issueId: issue?.id ?? null, teamId: issue?.team?.id ?? null })
    this.#queues.set(id, queue)
    if (this.#queues.size > queuesKept) this.#dropIdleQueue()
    return queue
  }

  /** Drops the oldest idle queue; its state can be read from the service again. */
  #dropIdleQueue() {
    for (const [id, queue] of this.#queues) {
      if (queue.idle) return this.#queues.delete(id)
    }
  }

  #endWhere(matches: (queue: SessionQueue) => boolean, why: string) {
    for (const queue of this.#queues.values()) if (matches(queue)) queue.end(why)
  }
}
