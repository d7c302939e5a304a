import type { StreamResponse, Task, TaskStatus } from '@a2a-js/sdk'
import { hours } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Door } from '../http/invoke.ts'
import type { Agent, AgentCalls, Call } from './calls.ts'
import { leaseMs, markCancelSent, saveState, stopFollowing, type TaskRow } from './conversation.ts'
import {
  Artifacts,
  artifactPosting,
  failure,
  isEnded,
  isResting,
  keyOf,
  messageText,
  postingOf,
  response,
  stateOf,
  type TaskState,
  urlsOf,
} from './mapping.ts'
import { Poster, SessionOver } from './poster.ts'

export const firstEventMs = 20_000
const idleMs = 5 * 60_000
const callMs = 20_000
const [pollMinMs, pollMaxMs, pollGrowth] = [2_000, 30_000, 1.5]
const lostAfterMs = hours(24)
/** Streams that broke off before the task is polled instead. */
const maxFailures = 3
const streamsPerWorker = 64
/** While a task changes often, its row is written at most this often. */
const saveEveryMs = leaseMs / 3

/** An open stream, with events that were read already. */
export interface Opened {
  call: Call
  first: StreamResponse[]
  rest: AsyncIterator<StreamResponse> | null
}

interface Deps {
  ctx: Context
  door: Door
  calls: AgentCalls
  owner: string
}

/** Follows tasks until they end: by their streams, or by polling. Posts what the agent reports. */
export class TaskTracker {
  readonly #deps: Deps
  readonly #following = new Map<string, Following>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get size() {
    return this.#following.size
  }

  /** Whether one more stream may stay open. */
  hasRoomForStream() {
    return [...this.#following.values()].filter(({ isStreaming }) => isStreaming).length < streamsPerWorker
  }

  /** Replaces what follows the task in this process. */
  follow(task: TaskRow, agent: Agent, opened?: Opened) {
    this.#following.get(task.id)?.stop()
    const following = new Following(this.#deps, this, task, agent)
    this.#following.set(task.id, following)
    following.start(opened, () => {
      if (this.#following.get(task.id) === following) this.#following.delete(task.id)
    })
  }

  isFollowing(id: string) {
    return this.#following.has(id)
  }

  /** The session of the task is over: the agent is asked once to cancel it (a2a.ends-cancel). */
  async abandon(task: TaskRow, agent: Agent) {
    this.#following.get(task.id)?.stop()
    await cancelOnce(this.#deps, task, agent)
  }

  /** Stops following tasks that other workers have taken. */
  keepOnly(ids: Set<string>) {
    for (const [id, following] of this.#following) if (!ids.has(id)) following.stop()
  }

  async stop() {
    const all = [...this.#following.values()]
    for (const following of all) following.stop()
    await Promise.all(all.map(({ done }) => done))
  }
}

async function cancelOnce({ ctx, calls, owner }: Deps, task: TaskRow, agent: Agent) {
  if (await markCancelSent(ctx.db, task)) {
    const { tenant } = agent.interface
    await calls.run(agent, callMs, (client, options) =>
      client.cancelTask({ tenant, id: task.taskId, metadata: undefined }, options),
    )
  }
  await stopFollowing(ctx, task, owner)
}

class Following {
  isStreaming = false
  done: Promise<void> = Promise.resolve()
  readonly #deps: Deps
  readonly #tracker: TaskTracker
  readonly #task: TaskRow
  readonly #agent: Agent
  readonly #poster: Poster
  readonly #artifacts = new Artifacts()
  readonly #stopped = new AbortController()
  #state: TaskState
  /** State, time and text of the last status; a different one is a change. */
  #seen = ''
  #changedAt: number
  #savedAt = 0
  #failures = 0
  #pollAtOnce = false
  #pollMs = pollMinMs
  #call: Call | undefined

  constructor(deps: Deps, tracker: TaskTracker, task: TaskRow, agent: Agent) {
    this.#deps = deps
    this.#tracker = tracker
    this.#task = task
    this.#agent = agent
    this.#state = task.state
    this.#changedAt = Date.parse(task.changedAt)
    this.#poster = new Poster(deps.ctx, deps.door, task.sessionId)
  }

  start(opened: Opened | undefined, ended: () => void) {
    this.done = this.#run(opened)
      .catch(async (error) => {
        if (error instanceof SessionOver) return cancelOnce(this.#deps, this.#task, this.#agent)
        throw error
      })
      .catch((error) => {
        // The lease ends, and a worker follows the task again.
        const { message } = error as Error
        this.#deps.ctx.log.warn({ task_id: this.#task.id, message }, 'could not follow an A2A task')
      })
      .finally(() => {
        this.#poster.close()
        ended()
      })
  }

  stop() {
    this.#stopped.abort()
    this.#call?.abort()
  }

  async #run(opened: Opened | undefined) {
    if (opened) await this.#consume(opened)
    // The agent refused to cancel the task, perhaps because it has ended.
    if (opened?.first.length === 0) this.#pollAtOnce = true
    while (!this.#isOver()) {
      // An answer of the person starts anew.
      if (this.#state === 'input_required') return this.#untilStopped()
      if (this.#mayStream() && !this.#pollAtOnce) await this.#subscribe()
      else await this.#poll()
    }
  }

  #isOver = () => this.#stopped.signal.aborted || isEnded(this.#state)

  #mayStream() {
    const { streaming } = this.#agent
    return (
      streaming && this.#failures < maxFailures && this.#state !== 'auth_required' && this.#tracker.hasRoomForStream()
    )
  }

  async #subscribe() {
    const { calls, ctx } = this.#deps
    const call = calls.open(this.#agent)
    this.#call = call
    const leave = await calls.enter(this.#agent)
    const cancel = ctx.clock.after(firstEventMs, () => call.abort())
    try {
      const client = await call.client()
      const { tenant } = this.#agent.interface
      const events = client.resubscribeTask({ tenant, id: this.#task.taskId }, call.options)[Symbol.asyncIterator]()
      const first = await events.next()
      cancel()
      leave()
      if (first.done) return this.#failed()
      await this.#consume({ call, first: [first.value], rest: events })
    } catch (error) {
      if (error instanceof SessionOver) throw error
      this.#failed()
      // The task may have ended, or the agent cannot resume a stream: its state is asked for at once.
      if (call.failureOf(error).kind === 'refused') this.#pollOnly()
    } finally {
      cancel()
      leave()
    }
  }

  #failed() {
    this.#failures += 1
  }

  #pollOnly() {
    this.#failures = maxFailures
    this.#pollAtOnce = true
  }

  /** Reads a stream to its end. */
  async #consume({ call, first, rest }: Opened) {
    this.#call = call
    this.isStreaming = rest !== null
    const { clock } = this.#deps.ctx
    let cancel = () => {}
    try {
      for (const event of first) await this.#apply(event)
      while (rest && !this.#isOver()) {
        cancel = clock.after(idleMs, () => call.abort())
        const next = await rest.next()
        cancel()
        if (next.done) break
        await this.#apply(next.value)
      }
    } catch (error) {
      if (error instanceof SessionOver) throw error
    } finally {
      cancel()
      this.isStreaming = false
      if (rest) call.abort()
    }
    if (call.isTooLarge) this.#pollOnly()
    else if (rest && !isResting(this.#state)) this.#failed()
  }

  async #poll() {
    const { ctx, calls } = this.#deps
    if (!this.#pollAtOnce) await this.#pause(this.#pollMs)
    this.#pollAtOnce = false
    if (this.#isOver()) return
    const { tenant } = this.#agent.interface
    const result = await calls.run(this.#agent, callMs, (client, options) =>
      client.getTask({ tenant, id: this.#task.taskId, historyLength: 0 }, options),
    )
    if (this.#isOver()) return
    const before = this.#changedAt
    if (result.ok) await this.#apply({ payload: { $case: 'task', value: result.value } })
    else if (result.failure.kind === 'unauthorized')
      return this.#giveUp('a2a_unauthorized', 'The agent no longer accepts its credential.')
    else if (result.failure.kind === 'refused' && result.failure.about === 'task')
      return this.#giveUp('a2a_lost', 'The agent no longer knows the task.')
    else if (result.call.isTooLarge) return this.#giveUp('a2a_error', 'The task of the agent is larger than 1 MB.')
    this.#pollMs = this.#changedAt > before ? pollMinMs : Math.min(pollMaxMs, this.#pollMs * pollGrowth)
    if (!this.#isOver() && ctx.clock.now().getTime() - this.#changedAt >= lostAfterMs)
      await this.#giveUp('a2a_lost', 'The agent has reported nothing new for 24 hours.')
  }

  async #giveUp(reasonCode: string, text: string) {
    await this.#poster.post({ key: keyOf(this.#task.taskId, 'end'), body: failure(reasonCode, text) })
    await stopFollowing(this.#deps.ctx, this.#task, this.#deps.owner)
    this.stop()
  }

  async #apply({ payload }: StreamResponse) {
    switch (payload?.$case) {
      case 'task':
        this.#artifacts.replace(payload.value as Task)
        return this.#report(payload.value.status)
      case 'statusUpdate':
        return this.#report(payload.value.status)
      case 'artifactUpdate': {
        const { artifact, append, lastChunk } = payload.value
        if (!artifact) return
        this.#artifacts.add(artifact, append)
        this.#changedAt = this.#deps.ctx.clock.now().getTime()
        if (lastChunk) await this.#postArtifacts(artifact.artifactId)
        return
      }
      case 'message':
        await this.#poster.post({ key: keyOf(this.#task.taskId, 'end'), body: response(messageText(payload.value)) })
        return this.#save('completed')
    }
  }

  async #report(status: TaskStatus | undefined) {
    const { clock } = this.#deps.ctx
    const state = stateOf(status)
    const seen = JSON.stringify([state, status?.timestamp, status?.message?.messageId, status?.message?.parts])
    const hasChanged = seen !== this.#seen
    this.#seen = seen
    if (hasChanged) this.#changedAt = clock.now().getTime()
    if (isResting(state)) await this.#postArtifacts()
    const cancelRequested = state === 'canceled' && (await this.#isCancelRequested())
    const view = { taskId: this.#task.taskId, artifacts: this.#artifacts.all, cancelRequested }
    const posting = postingOf(view, status, clock.now())
    if (posting) await this.#poster.post(posting)
    if (state !== this.#state || clock.now().getTime() - this.#savedAt >= saveEveryMs) await this.#save(state)
  }

  async #postArtifacts(id?: string) {
    for (const artifact of this.#artifacts.take(id)) {
      await this.#poster.post(artifactPosting(this.#task.taskId, artifact))
      await this.#poster.addLinks(urlsOf(artifact.parts), artifact.name || 'Artifact')
    }
  }

  async #isCancelRequested() {
    const row = await this.#deps.ctx.db.row<{ cancelSent: boolean }>(sql`
      select cancel_sent as "cancelSent" from a2a_tasks where id = ${this.#task.id}`)
    return row?.cancelSent ?? false
  }

  /** Stored after the activity was posted, so that it is posted again if this worker dies in between. */
  async #save(state: TaskState) {
    const { ctx, owner } = this.#deps
    this.#savedAt = ctx.clock.now().getTime()
    this.#state = state
    if (!(await saveState(ctx, this.#task, owner, state, new Date(this.#changedAt)))) this.stop()
  }

  #pause(ms: number) {
    return new Promise<void>((resolve) => {
      if (this.#stopped.signal.aborted) return resolve()
      const cancel = this.#deps.ctx.clock.after(ms, () => {
        this.#stopped.signal.removeEventListener('abort', stop)
        resolve()
      })
      const stop = () => {
        cancel()
        resolve()
      }
      this.#stopped.signal.addEventListener('abort', stop, { once: true })
    })
  }

  #untilStopped() {
    return new Promise<void>((resolve) => {
      if (this.#stopped.signal.aborted) return resolve()
      this.#stopped.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}
