import { type AgentActivity, api, type Operation, type RelayedAttempt } from '@baton/protocol'
import { type InsideListener, listenInside } from '../agent-apps/listen.ts'
import { readActivities } from '../agent-sessions/activities.ts'
import { type SessionRow, sessionColumns, sessionOf } from '../agent-sessions/session.ts'
import { repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import { readSetting } from '../db/settings.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { findAgentCaller } from './agent-caller.ts'
import { agentSetting } from './create-agents.ts'
import { nextShowStep, nextStep, type Progress, type Step } from './script.ts'
import { mayBegin, readShows, replaceShows } from './shows.ts'

/** How often a process that does not listen looks whether it can, and the show whether its next step is due. */
const listenAgainMs = 10_000
const lookMs = 2_000
/** More than any script posts; a session with more is left alone. */
const mostActivities = 500

type Session = Progress & { id: string; issueId: string | null; hasEnded: boolean; quietSince: Date }

/** Number of viewers of a workspace in this process. */
type Watching = (workspaceId: string) => number

/**
 * Starts the demo's agent, unless `BATON_DEMO` is 0, if this database was made as a demo that has one. Resolves when it
 * listens, so that the first deliveries find it.
 */
export async function startDemoAgent(ctx: Context, door: Door, watching: Watching): Promise<DemoAgent | undefined> {
  const appId = ctx.config.demo ? await readSetting(ctx.db, agentSetting) : undefined
  if (appId === undefined) return undefined
  const agent = new DemoAgent(ctx, door, appId, watching)
  await agent.start()
  return agent
}

/**
 * Scout: an agent app inside the process. It receives its deliveries through the relay and calls the door as any app
 * would, so that events, signatures and sessions are real; its words come from script.ts. Of several processes one
 * listens; the show continues in each that has viewers, and both read the state from the session.
 */
export class DemoAgent {
  readonly #ctx: Context
  readonly #door: Door
  readonly #appId: string
  readonly #watching: Watching
  #listener: InsideListener | undefined
  /** Of the installation, as of the last look. */
  #workspaceId: string | undefined
  readonly #stops: (() => Promise<void>)[] = []
  readonly #pauses = new Map<string, () => void>()
  readonly #working = new Map<string, Promise<void>>()
  #stopping = false

  constructor(ctx: Context, door: Door, appId: string, watching: Watching) {
    this.#ctx = ctx
    this.#door = door
    this.#appId = appId
    this.#watching = watching
  }

  async start() {
    const { clock, db } = this.#ctx
    const warn = ({ message }: Error) => this.#ctx.log.warn({ message }, "the demo's agent is delayed")
    // Only one process uses the embedded database: the listener of an earlier one, if any, has died.
    await this.#listen({ onlyIfFree: db.kind === 'postgres' }).catch(warn)
    this.#stops.push(
      repeat(clock, listenAgainMs, () => this.#listen({ onlyIfFree: true }), warn),
      repeat(clock, lookMs, () => this.show(), warn),
    )
  }

  async stop() {
    this.#stopping = true
    for (const cancel of this.#pauses.values()) cancel()
    await Promise.all([...this.#stops.map((stop) => stop()), this.#listener?.stop()])
    await this.idle()
  }

  /** Resolves when no step is being taken; pauses between steps do not count. */
  async idle() {
    while (this.#working.size > 0) await Promise.all(this.#working.values())
  }

  async #listen(options: { onlyIfFree: boolean }) {
    if (this.#stopping || (this.#listener && !this.#listener.over)) return
    await this.#listener?.stop()
    const caller = await findAgentCaller(this.#ctx.db, this.#appId)
    this.#workspaceId = caller?.workspaceId
    if (!caller || caller.pendingDeletion) return
    this.#listener = await listenInside(this.#ctx, caller, options, (attempt) => this.#received(attempt))
    if (this.#listener) await this.#resume(caller)
  }

  /** Continues what the previous listener left. */
  async #resume({ id, workspaceId }: App) {
    const show = await readShows(this.#ctx.db)
    const sessions = await this.#ctx.db.rows<{ id: string }>(sql`
      select id from agent_sessions
      where workspace_id = ${workspaceId} and agent_id = ${id} and ended_at is null
        and state in ('pending', 'active', 'stopping') and id <> ${show?.sessionId ?? ''}`)
    for (const session of sessions) this.#work(session.id)
  }

  #received({ body }: RelayedAttempt) {
    const { data } = JSON.parse(Buffer.from(body, 'base64').toString()) as { data?: { agent_session?: { id: string } } }
    // Other events, such as a change of its teams, need no work.
    if (data?.agent_session) this.#work(data.agent_session.id)
  }

  /** Takes the next step of the session, now if it is due and otherwise later. A new event replaces a pause. */
  #work(sessionId: string) {
    this.#pauses.get(sessionId)?.()
    this.#pauses.delete(sessionId)
    if (this.#stopping) return
    const before = this.#working.get(sessionId) ?? Promise.resolve()
    const work = before
      .then(() => this.#advance(sessionId))
      .catch((error: Error) => {
        // The session has ended or was deleted meanwhile, or Scout lost access to it.
        if (!(error instanceof ApiError)) this.#ctx.log.warn({ message: error.message }, "the demo's agent failed")
      })
      .finally(() => {
        if (this.#working.get(sessionId) === work) this.#working.delete(sessionId)
      })
    this.#working.set(sessionId, work)
  }

  async #advance(sessionId: string) {
    const caller = await findAgentCaller(this.#ctx.db, this.#appId)
    const session = caller && (await this.#read(caller, sessionId))
    if (!session || session.hasEnded) return
    const isShow = (await readShows(this.#ctx.db))?.sessionId === sessionId
    // The show takes its own steps, but a Stop takes effect at once.
    if (isShow && session.state !== 'stopping') return
    const step = nextStep(session)
    if (!step) return
    const waitMs = session.quietSince.getTime() + step.afterMs - this.#ctx.clock.now().getTime()
    if (waitMs <= 0) await this.#take(caller, session, step)
    if (this.#stopping) return
    this.#pauses.set(
      sessionId,
      this.#ctx.clock.after(Math.max(waitMs, 1), () => this.#work(sessionId)),
    )
  }

  /** Takes the next step of the show, or begins a new one, if a viewer watches (demo.bounded). */
  async show() {
    const { db, clock } = this.#ctx
    if (this.#workspaceId === undefined || this.#watching(this.#workspaceId) === 0) return
    const caller = await findAgentCaller(db, this.#appId)
    if (!caller || caller.pendingDeletion) return
    const shows = await readShows(db)
    if (!shows) return
    const session = await this.#read(caller, shows.sessionId)
    const step = session && !session.hasEnded && nextShowStep(session)
    if (step) {
      if (clock.now().getTime() - session.quietSince.getTime() >= step.afterMs) await this.#take(caller, session, step)
      return
    }
    if (!session?.issueId || !mayBegin(shows, clock.now())) return
    // Counted before it begins, so that a process that dies here begins none in excess.
    const next = { sessionId: shows.sessionId, startedAt: clock.now(), begun: shows.begun + 1 }
    if (!(await replaceShows(db, shows, next))) return
    const opened = (await this.#invoke(caller, api.openAgentSession, {}, { issue_id: session.issueId })) as {
      id: string
    }
    await replaceShows(db, next, { ...next, sessionId: opened.id })
  }

  async #read({ id, workspaceId }: App, sessionId: string): Promise<Session | undefined> {
    const { db, config, clock } = this.#ctx
    const row = await db.row<SessionRow>(sql`
      select ${sessionColumns} from agent_sessions s
      where s.id = ${sessionId} and s.workspace_id = ${workspaceId} and s.agent_id = ${id}`)
    if (!row) return undefined
    const { lifecycle, issueId } = sessionOf(row, clock.now(), config)
    const { state, quietSince } = lifecycle
    const activities: AgentActivity[] = await readActivities(
      db,
      config,
      sql`a.session_id = ${sessionId} and not a.ephemeral order by a.seq limit ${mostActivities}`,
    )
    if (activities.length === mostActivities) return undefined
    return { id: sessionId, issueId, state, hasEnded: lifecycle.endedAt !== null, quietSince, activities }
  }

  async #take(caller: App, { id: session_id }: Session, { key, plan, activity }: Step) {
    if (plan) await this.#invoke(caller, api.updateAgentSession, { session_id }, { plan })
    await this.#invoke(caller, api.postActivity, { session_id }, activity, { 'idempotency-key': key })
  }

  async #invoke(caller: App, operation: Operation, params: Record<string, string>, body: unknown, headers = {}) {
    return (await this.#door.invoke(operation, caller, { params, query: {}, body, headers, address: '' })).body
  }
}
