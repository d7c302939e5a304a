import type { Message, StreamResponse, Task } from '@a2a-js/sdk'
import { readActivities } from '../agent-sessions/activities.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Claimed, SentMessage } from '../delivery/stages.ts'
import type { Door } from '../http/invoke.ts'
import { uuidOf } from '../ids.ts'
import type { Outcome } from '../outbound/client.ts'
import type { Agent, AgentCalls, Call, CallFailure, SentRequest } from './calls.ts'
import {
  admit,
  findAgent,
  markCancelSent,
  recordAnswer,
  recordFailure,
  type TaskRow,
  takeTask,
} from './conversation.ts'
import { failure as errorBody, keyOf, messageText, type Posting, response, stateOf } from './mapping.ts'
import { messageOf, newContext, type Place, requestOf, type SessionEvent, textsOf } from './message.ts'
import { Poster, SessionOver } from './poster.ts'
import { firstEventMs, type Opened, type TaskTracker } from './tracker.ts'

const sendMs = 120_000
const cancelMs = 20_000
/** Time to write the outcome down, after which another worker may conclude that this one died. */
const marginMs = 10_000
const conversationBytes = 32 * 1024
const conversationActivities = 100

type Answered = { task: Task | null; message: Message | null; contextId: string; taskId: string | null }

type Result = { answered: Answered; opened: Opened } | { failure: CallFailure; call: Call }

const errorTexts = {
  a2a_unreachable: 'The agent could not be reached.',
  a2a_unauthorized: 'The agent did not accept its credential.',
  a2a_outcome_unknown: 'The agent may have received the message, but did not answer. It is not sent again by itself.',
  a2a_error: 'The agent answered with an error.',
} as const

/** Makes the attempts of deliveries to A2A agents. */
export class A2aSender {
  readonly #ctx: Context
  readonly #door: Door
  readonly #calls: AgentCalls
  readonly #tracker: TaskTracker
  readonly #owner: string

  constructor(deps: { ctx: Context; door: Door; calls: AgentCalls; tracker: TaskTracker; owner: string }) {
    this.#ctx = deps.ctx
    this.#door = deps.door
    this.#calls = deps.calls
    this.#tracker = deps.tracker
    this.#owner = deps.owner
  }

  async send(claimed: Claimed, startedAt: Date): Promise<SentMessage | 'held' | 'later'> {
    const event: SessionEvent = JSON.parse(claimed.envelope)
    const agent = await findAgent(this.#ctx.db, claimed.endpointId)
    const giveUpMs = (agent.streaming ? firstEventMs : sendMs) * 2 + marginMs
    const admission = await admit(this.#ctx, claimed, event, giveUpMs)
    const turn = new Turn(this.#ctx, this.#door, claimed, event, admission.session.sessionId, startedAt)
    switch (admission.kind) {
      case 'wait':
      case 'over':
        return 'held'
      case 'later':
        return 'later'
      case 'answered':
        return turn.sent(nothingSent)
      case 'interrupted':
        return this.#resolve(turn, agent, admission.place, admission.session, null)
      case 'cancel':
        return this.#cancel(turn, agent, admission.task)
      case 'send':
        return this.#deliver(turn, agent, admission.place, admission.session)
    }
  }

  async #deliver(turn: Turn, agent: Agent, place: Place, session: Session): Promise<SentMessage> {
    let result = await this.#attempt(turn, agent, place)
    // The task is unknown or has ended: once more without it.
    if (isMisplaced(result) && place.taskId !== null) {
      place = { contextId: place.contextId, taskId: null, previousTaskId: place.taskId }
      result = await this.#attempt(turn, agent, place)
    }
    if (isMisplaced(result) && place.contextId !== null) {
      place = newContext
      result = await this.#attempt(turn, agent, place, await turn.conversation())
    }
    if ('answered' in result) return this.#take(turn, agent, session, result.answered, result.opened)
    const { failure, call } = result
    if (failure.kind === 'unknown') return this.#resolve(turn, agent, place, session, { failure, call })
    return this.#fail(turn, failure, call)
  }

  async #attempt(turn: Turn, agent: Agent, place: Place, conversation?: string): Promise<Result> {
    const texts = textsOf(turn.event, await turn.description())
    const message = messageOf(turn.claimed.id, turn.event, conversation ? [conversation, ...texts] : texts, place)
    const request = requestOf(message, agent.interface.tenant)
    if (!agent.streaming) {
      const result = await this.#calls.run(agent, sendMs, (client, options) => client.sendMessage(request, options))
      if (!result.ok) return result
      const answer = result.value
      const event: StreamResponse = {
        payload: isTask(answer) ? { $case: 'task', value: answer } : { $case: 'message', value: answer },
      }
      const answered = answeredBy(event)
      return answered
        ? { answered, opened: { call: result.call, first: [event], rest: null } }
        : { failure: noAnswer(result.call), call: result.call }
    }
    const call = this.#calls.open(agent)
    const leave = await this.#calls.enter(agent)
    const cancel = this.#ctx.clock.after(firstEventMs, () => call.abort())
    try {
      const client = await call.client()
      const events = client.sendMessageStream(request, call.options)[Symbol.asyncIterator]()
      const first = await events.next()
      const answered = first.done ? null : answeredBy(first.value)
      if (!answered || first.done) return { failure: noAnswer(call), call }
      return { answered, opened: { call, first: [first.value], rest: events } }
    } catch (error) {
      return { failure: call.failureOf(error), call }
    } finally {
      cancel()
      leave()
    }
  }

  /** The delivery has succeeded: the agent answered with a task or a message. */
  async #take(turn: Turn, agent: Agent, session: Session, answered: Answered, opened: Opened): Promise<SentMessage> {
    const { task, message, contextId, taskId } = answered
    // Posted before it is written down that the agent answered, so that the answer is not lost if this worker dies.
    if (message) await turn.post(response(messageText(message)))
    const row = await recordAnswer(this.#ctx, turn.claimed, session, {
      contextId,
      task: taskId === null ? null : { id: taskId, state: stateOf(task?.status) },
      request: opened.call.request,
      owner: this.#owner,
    })
    if (row) this.#tracker.follow(row, agent, opened)
    else opened.call.abort()
    return turn.sent(opened.call.outcome(turn.startedAt))
  }

  /** Nothing tells whether the agent took the message: its task is looked for (a2a.unknown-outcome). */
  async #resolve(
    turn: Turn,
    agent: Agent,
    { contextId }: Place,
    session: Session,
    failed: { failure: CallFailure; call: Call } | null,
  ): Promise<SentMessage> {
    const found = await this.#findTask(turn, agent, contextId)
    if (found) {
      const { value, call } = found
      const answered = { task: value, message: null, contextId: value.contextId, taskId: value.id }
      const opened = { call, first: [{ payload: { $case: 'task' as const, value } }], rest: null }
      if (failed) call.request = failed.call.request
      return this.#take(turn, agent, session, answered, opened)
    }
    await this.#giveUp(turn, 'a2a_outcome_unknown', '', failed?.call.request ?? null)
    const outcome = failed?.call.outcome(turn.startedAt, failed.failure) ?? interrupted
    return turn.sent(outcome, { isFinal: true })
  }

  async #findTask(turn: Turn, agent: Agent, contextId: string | null) {
    if (!agent.interface.protocol_version.startsWith('1')) return undefined
    const messageId = uuidOf(turn.claimed.id)
    const result = await this.#calls.run(agent, cancelMs, (client, options) =>
      client.listTasks(
        {
          tenant: agent.interface.tenant,
          contextId: contextId ?? '',
          status: 0,
          pageSize: 50,
          pageToken: '',
          historyLength: 50,
          statusTimestampAfter: undefined,
          includeArtifacts: true,
        },
        options,
      ),
    )
    if (!result.ok) return undefined
    const value = result.value.tasks.find(({ history }) => history.some((one) => one.messageId === messageId))
    return value && { value, call: result.call }
  }

  async #fail(turn: Turn, failure: CallFailure, call: Call): Promise<SentMessage> {
    const outcome = call.outcome(turn.startedAt, failure)
    if (failure.kind === 'not_received') {
      // The schedule decides about another attempt; after the last one the session gets the error.
      const isLast = turn.isLastAttempt()
      if (isLast) await this.#giveUp(turn, 'a2a_unreachable', '', call.request)
      else await recordFailure(this.#ctx, turn.claimed, turn.sessionId, call.request, false)
      return turn.sent(outcome)
    }
    if (failure.kind === 'unauthorized') await this.#giveUp(turn, 'a2a_unauthorized', '', call.request)
    else await this.#giveUp(turn, 'a2a_error', 'message' in failure ? failure.message : '', call.request)
    return turn.sent(outcome, { isFinal: true })
  }

  async #giveUp(turn: Turn, code: keyof typeof errorTexts, said: string, request: SentRequest | null) {
    await turn.post(errorBody(code, said ? `${errorTexts[code]}\n\n${said.slice(0, 1000)}` : errorTexts[code]))
    await recordFailure(this.#ctx, turn.claimed, turn.sessionId, request, true)
  }

  /** a2a.stop-cancels */
  async #cancel(turn: Turn, agent: Agent, task: TaskRow | null): Promise<SentMessage> {
    if (!task) {
      await turn.post(response('Stopped.'))
      return turn.sent(nothingSent)
    }
    await markCancelSent(this.#ctx.db, task)
    const { tenant } = agent.interface
    const result = await this.#calls.run(agent, cancelMs, (client, options) =>
      client.cancelTask({ tenant, id: task.taskId, metadata: undefined }, options),
    )
    const { call } = result
    if (!result.ok && result.failure.kind !== 'refused') {
      const isFinal = result.failure.kind !== 'not_received'
      return turn.sent(call.outcome(turn.startedAt, result.failure), { isFinal })
    }
    // Canceled, finished first, or cannot be canceled: what the agent says now decides.
    const taken = await takeTask(this.#ctx.db, task.id, this.#owner, this.#ctx.clock.now())
    if (taken) {
      const first: StreamResponse[] = result.ok ? [{ payload: { $case: 'task', value: result.value } }] : []
      this.#tracker.follow(taken, agent, { call, first, rest: null })
    }
    return turn.sent(result.ok ? call.outcome(turn.startedAt) : call.outcome(turn.startedAt, result.failure), {
      isFinal: !result.ok,
    })
  }
}

type Session = { appId: string; sessionId: string; workspaceId: string }

/** One delivery while it is attempted. */
class Turn {
  readonly claimed: Claimed
  readonly event: SessionEvent
  readonly sessionId: string
  readonly startedAt: Date
  readonly #ctx: Context
  readonly #poster: Poster

  constructor(ctx: Context, door: Door, claimed: Claimed, event: SessionEvent, sessionId: string, startedAt: Date) {
    this.#ctx = ctx
    this.#poster = new Poster(ctx, door, sessionId)
    this.claimed = claimed
    this.event = event
    this.sessionId = sessionId
    this.startedAt = startedAt
  }

  isLastAttempt() {
    const { kind, scheduled } = this.claimed
    return kind === 'scheduled' && this.#ctx.config.retryDelaysMs[scheduled] === undefined
  }

  sent(outcome: Outcome, { isFinal = false } = {}): SentMessage {
    return { startedAt: this.startedAt, outcome, isFinal }
  }

  /** The last word about this attempt. Posted once, even if a worker dies and another makes the attempt again. */
  async post(body: Posting['body']) {
    const key = keyOf('delivery', this.claimed.id, String(this.claimed.attempts + 1))
    try {
      await this.#poster.post({ key, body })
    } catch (error) {
      if (!(error instanceof SessionOver)) throw error
    }
  }

  async description(): Promise<string | null> {
    const { issue } = this.event.data.agent_session
    if (this.event.action !== 'created' || !issue) return null
    const row = await this.#ctx.db.row<{ description: string }>(sql`
      select description from issues where id = ${issue.id} and not personal`)
    return row?.description ?? null
  }

  /** What was said so far, for an agent that has forgotten it: the end of it, at most 32 KB. */
  async conversation(): Promise<string> {
    const { db, config } = this.#ctx
    const seq = this.event.data.agent_activity?.seq ?? 0
    const activities = await readActivities(
      db,
      config,
      sql`a.session_id = ${this.sessionId} and a.seq < ${seq} and a.type in ('prompt', 'elicitation', 'response', 'error')
        and a.signal is distinct from 'stop' order by a.seq desc limit ${conversationActivities}`,
    )
    const lines: string[] = []
    let bytes = 0
    for (const { author, content } of activities) {
      const line = `${author.name}: ${'body' in content ? content.body : ''}`
      bytes += Buffer.byteLength(line)
      if (bytes > conversationBytes) break
      lines.unshift(line)
    }
    const { comment, issue } = this.event.data.agent_session
    const about = comment?.body ?? (issue ? `${issue.identifier} ${issue.title}` : '')
    return ['The conversation so far:', about, ...lines].join('\n\n')
  }
}

const isTask = (answer: Message | Task): answer is Task => !('messageId' in answer)

function answeredBy({ payload }: StreamResponse): Answered | null {
  switch (payload?.$case) {
    case 'task':
      return { task: payload.value, message: null, contextId: payload.value.contextId, taskId: payload.value.id }
    case 'statusUpdate':
    case 'artifactUpdate':
      return { task: null, message: null, contextId: payload.value.contextId, taskId: payload.value.taskId }
    case 'message':
      return { task: null, message: payload.value, contextId: payload.value.contextId, taskId: null }
    default:
      return null
  }
}

const isMisplaced = (result: Result): boolean =>
  'failure' in result && result.failure.kind === 'refused' && result.failure.about !== 'other'

/** The agent answered, but with neither a task nor a message. */
const noAnswer = ({ status }: Call): CallFailure => ({
  kind: 'refused',
  about: 'other',
  status,
  message: 'The agent answered with neither a task nor a message.',
})

const nothing = Buffer.alloc(0)
const nothingSent: Outcome = { ok: true, status: 200, durationMs: 0, body: nothing, whole: true }
const interrupted: Outcome = {
  ok: false,
  reason: 'network_error',
  status: null,
  durationMs: 0,
  body: nothing,
  whole: false,
}
