import { createHash } from 'node:crypto'
import type { AgentHandlers } from './agent.ts'
import type { BatonClient } from './client.ts'
import type { Clock } from './clock.ts'
import { isBatonError } from './errors.ts'
import type { SessionCreated, SessionPrompted, WebhookEvent } from './events.ts'
import { Lane } from './lane.ts'
import type { AgentSession } from './operations.ts'
import { Session } from './session.ts'

export interface WorkOptions {
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
/** Older than this, an event is a retry or was held up; what it asks for may be over or done. */
const lateMs = 30_000
/** The first thought comes after this if the handler has said nothing, and by then at the latest (4.5: within 10 s). */
const firstThoughtMs = 2000
const firstThoughtByMs = 7000
const lanesKept = 10_000

const stops = (event: SessionPrompted) => event.data.agent_activity.signal === 'stop'
const keyOf = (purpose: string, eventId: string) => createHash('sha256').update(`${purpose} ${eventId}`).digest('hex')

/** What each event leads to. Every event comes here once; their order and their age are nobody's promise. */
export class Work {
  readonly #options: WorkOptions
  readonly #lanes = new Map<string, Lane>()

  constructor(options: WorkOptions) {
    this.#options = options
  }

  /** Resolves when the work is done or dropped, and never rejects. `again`: it is known not to have been finished. */
  async do(event: WebhookEvent, again = false): Promise<void> {
    try {
      await this.#do(event, again)
    } catch (error) {
      this.#options.report(error, event)
    }
  }

  async #do(event: WebhookEvent, again: boolean): Promise<unknown> {
    const { handlers } = this.#options
    switch (event.type) {
      case 'AgentSessionEvent':
        if (event.action === 'created') return this.#created(event, again)
        return stops(event) ? this.#stop(event) : this.#prompted(event)
      case 'PermissionChange': {
        const { installation_id, removed_team_ids } = event.data
        const lost = ({ installationId, teamId }: Lane) =>
          installationId === installation_id && teamId !== null && removed_team_ids.includes(teamId)
        this.#endWhere(lost, 'The app was taken out of the team.')
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
          this.#endWhere((lane) => lane.issueId === event.data.id, 'The issue was deleted.')
        return handlers.onIssue?.(event)
      case 'Comment':
        return handlers.onComment?.(event)
      case 'Project':
        return handlers.onProject?.(event)
      case 'Ping':
        return handlers.onPing?.(event)
    }
  }

  /** A session that the app opened itself: no event will say so (4.5.5). */
  opened(installationId: string, session: AgentSession): Session {
    const lane = this.#laneOf(installationId, session)
    lane.created = true
    lane.begin()
    return new Session({
      session,
      installationId,
      client: this.#options.clientOf(installationId),
      signal: lane.signal,
      prompt: '',
      events: { ended: () => lane.end('The session has ended.') },
    })
  }

  #created(event: SessionCreated, again: boolean): Promise<void> | undefined {
    const lane = this.#lane(event)
    if (lane.created || lane.over) return
    lane.created = true
    const done = lane.add({
      seq: 0,
      run: async () => {
        if (!again && !lane.worked && this.#isLate(event) && (await this.#isDone(event))) return
        await this.#handle(event, lane, lane.signal, (session) => this.#options.handlers.onCreated(session, event))
      },
    })
    lane.begin()
    return done
  }

  #prompted(event: SessionPrompted): Promise<void> | undefined {
    const lane = this.#lane(event)
    if (lane.over) return
    const done = lane.add({
      seq: event.data.agent_activity.seq,
      isNext: this.#afterEarlier(lane, event),
      run: () =>
        this.#handle(event, lane, lane.signal, (session) => this.#options.handlers.onPrompted?.(session, event)),
    })
    if (!lane.begun && !lane.searching) void this.#findBeginning(lane, event)
    return done
  }

  /** Events overtake each other. What people wrote since the agent's last word and did not come yet is waited for. */
  #afterEarlier(lane: Lane, { data, installation_id }: SessionPrompted): () => Promise<boolean> {
    const { clientOf, clock } = this.#options
    const { seq } = data.agent_activity
    let patient = seq > 1
    return async () => {
      if (!patient) return true
      const asked = clientOf(installation_id ?? '').listActivities({
        session_id: data.agent_session.id,
        after_seq: Math.max(0, seq - 201),
        limit: 200,
      })
      const said = (await asked.catch(() => ({ data: [] }))).data.filter((activity) => activity.seq < seq)
      const open = said.slice(said.findLastIndex(({ author }) => author.kind === 'app') + 1)
      if (open.every((activity) => lane.seen.has(activity.seq))) return true
      clock.after(waitMs, () => {
        patient = false
        void lane.next()
      })
      return false
    }
  }

  /** The event that opened the session may have been here before a restart, may be under way, or may never come. */
  async #findBeginning(lane: Lane, event: SessionPrompted) {
    lane.searching = true
    try {
      const { ended, answered } = await this.#ask(event)
      if (ended) return lane.end('The session has ended.')
      if (answered) return lane.begin()
    } catch (error) {
      this.#options.report(error, event)
      if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return lane.end('The session is out of reach.')
    }
    this.#options.clock.after(waitMs, () => lane.begin())
  }

  /** Not a job of the lane: it has to overtake whatever runs there. */
  async #stop(event: SessionPrompted) {
    const lane = this.#lane(event)
    if (lane.over) return
    const ended = this.#isLate(event) && (await this.#ask(event).catch(() => null))?.ended
    if (lane.over) return
    lane.end('A person stopped the session.')
    if (ended) return
    const { onStop } = this.#options.handlers
    await this.#handle(event, lane, new AbortController().signal, (session) =>
      onStop ? onStop(session, event) : 'Stopped.',
    )
  }

  async #handle(
    event: SessionEvent,
    lane: Lane,
    signal: AbortSignal,
    handler: (session: Session) => unknown,
  ): Promise<void> {
    const reported = new Set<unknown>()
    const report = (error: unknown) => {
      if (reported.has(error)) return
      reported.add(error)
      this.#options.report(error, event)
    }
    const answer = { said: false }
    const session = this.#session(event, lane, signal, answer, report)
    const quiet = event.action === 'created' ? this.#firstThought(event, session, lane, answer) : () => {}
    try {
      const said = await handler(session)
      if (typeof said === 'string' && said !== '') await session.respond(said)
    } catch (error) {
      quiet()
      if (signal.aborted || isBatonError(error, 'SESSION_ENDED')) return
      report(error)
      // Nothing of the error itself: it may hold what nobody in the workspace should read.
      const key = { idempotencyKey: keyOf('error', event.data.event_id) }
      await session.fail(this.#options.errorText, 'handler_failed', key).catch(() => {})
    }
  }

  /** Says a first word for a handler that takes its time. The answer takes it back. */
  #firstThought(event: SessionCreated, session: Session, lane: Lane, answer: { said: boolean }): () => void {
    const { firstThought, clock } = this.#options
    if (firstThought === false) return () => {}
    const leftMs = Date.parse(event.created_at) + firstThoughtByMs - clock.now().getTime()
    return clock.after(Math.max(0, Math.min(firstThoughtMs, leftMs)), () => {
      if (answer.said || lane.over) return
      const key = { idempotencyKey: keyOf('first thought', event.data.event_id), ephemeral: true }
      session.thought(firstThought, key).catch(() => {})
    })
  }

  #session(
    event: SessionEvent,
    lane: Lane,
    signal: AbortSignal,
    answer: { said: boolean },
    failed: (error: unknown) => void,
  ): Session {
    const installationId = lane.installationId
    const metadata = event.action === 'prompted' ? event.data.agent_activity.signal_metadata : null
    return new Session({
      session: event.data.agent_session,
      client: this.#options.clientOf(installationId),
      installationId,
      signal,
      prompt: event.action === 'created' ? event.data.prompt_context : event.data.agent_activity.content.body,
      selected: Array.isArray(metadata?.selected) ? metadata.selected : [],
      events: {
        saying: () => {
          answer.said = true
        },
        ended: () => lane.end('The session has ended.'),
        failed,
      },
    })
  }

  #isLate(event: WebhookEvent) {
    return this.#options.clock.now().getTime() - Date.parse(event.created_at) > lateMs
  }

  /** Whether some process of the app has worked on it before, or nobody needs to any more. */
  async #isDone(event: SessionCreated) {
    const found = await this.#ask(event).catch((error) => this.#options.report(error, event))
    return found ? found.ended || found.answered : false
  }

  async #ask({ data, installation_id }: SessionEvent) {
    const client = this.#options.clientOf(installation_id ?? '')
    const session_id = data.agent_session.id
    const { ended_at } = await client.getAgentSession({ session_id })
    const { data: activities } = await client.listActivities({ session_id, limit: 200 })
    return { ended: ended_at !== null, answered: activities.some(({ author }) => author.kind === 'app') }
  }

  #lane({ data, installation_id }: SessionEvent): Lane {
    return this.#laneOf(installation_id ?? '', data.agent_session)
  }

  #laneOf(installationId: string, { id, issue }: AgentSession): Lane {
    const known = this.#lanes.get(id)
    if (known) return known
    const lane = new Lane({ installationId, issueId: issue?.id ?? null, teamId: issue?.team?.id ?? null })
    this.#lanes.set(id, lane)
    if (this.#lanes.size > lanesKept) this.#forgetOne()
    return lane
  }

  /** Of those at rest, the one that began first. The service knows the rest. */
  #forgetOne() {
    for (const [id, lane] of this.#lanes) {
      if (lane.idle) return this.#lanes.delete(id)
    }
  }

  #endWhere(which: (lane: Lane) => boolean, why: string) {
    for (const lane of this.#lanes.values()) if (which(lane)) lane.end(why)
  }
}
