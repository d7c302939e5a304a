import {
  type AgentActivity,
  api,
  limits,
  type NewSuggestion,
  type Operation,
  type PlanItem,
  programLimits,
  type SessionUsage,
  type UsageReport,
} from '@baton/protocol'
import { readActivities } from '../agent-sessions/activities.ts'
import { readContext } from '../agent-sessions/context/read-context.ts'
import type { Claimed } from '../agent-sessions/work-queue.ts'
import type { Context } from '../context.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type App, grants } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { textProblem } from '../http/validate.ts'
import { callTool } from '../tools/call.ts'
import { tools, toolsFor } from '../tools/catalogue.ts'
import type { Tool } from '../tools/tool.ts'
import { findSessionAgent, scopesOf } from './identity.ts'
import { causeSeqOf, type Work } from './work.ts'

/** Covered by the methods below, or useless here: the agent is not an app and already has a session. */
const excludedTools = ['get_me', 'open_agent_session', 'post_activity', 'update_session_plan', 'update_session_usage']

const readComment = tools.find(({ operation }) => operation === api.getComment) as Tool
const usableTools = toolsFor('app').filter(({ name }) => !excludedTools.includes(name))

/** The agent was deleted, lost its access, or another process claimed the work. */
export class AccessLost extends Error {}

/** Small, because each message may be as long as a request body. */
const messagesPerRead = 20

/** One idempotency key for every final answer, so that a piece of work has one, however often it is attempted. */
const answerStep = 'last'
const questionStep = 'question'

type ActivityContent = Record<string, unknown> & { type: string }

export interface Option {
  value: string
  label?: string
  description?: string
}

/** What one answer of a model used. `cost` is in millionths of a US dollar; null without a price. */
export interface Used {
  model: string
  input: number
  output: number
  cost: number | null
}

/**
 * The session as its agent uses it. Every call goes through the door as the agent, with the access it has at that
 * moment, and throws when the work is over: the session was stopped, or the agent lost access.
 *
 * `step` names an activity within the piece of work: posting it again under the same name has no effect.
 */
export class AgentSessionApi {
  /** Aborted when a person pressed Stop, or the process ends. */
  readonly aborted: AbortSignal
  /** The tools that the agent's scopes allow. */
  readonly tools: readonly Tool[]
  readonly #ctx: Context
  readonly #door: Door
  readonly #work: Work
  readonly #claimed: Claimed

  constructor(ctx: Context, door: Door, { work, claimed }: { work: Work; claimed: Claimed }, aborted: AbortSignal) {
    this.#ctx = ctx
    this.#door = door
    this.#work = work
    this.#claimed = claimed
    this.aborted = aborted
    this.tools = usableTools.filter(({ operation: { route } }) => {
      const needed = 'scope' in route ? route.scope : null
      return needed === null || grants(scopesOf(work.agent.kind, ctx.config), needed)
    })
  }

  async thought(step: string, body: string, ephemeral?: 'ephemeral') {
    await this.#post(step, { type: 'thought', body }, { ephemeral: ephemeral !== undefined })
  }

  async action(step: string, action: string, parameter: string, result?: string) {
    await this.#post(step, { type: 'action', action, parameter, ...(result === undefined ? {} : { result }) })
  }

  /** Posted before a call, so that a later attempt knows that the call may have been made. */
  async announce(step: string, action: string, parameter: string) {
    await this.#post(step, { type: 'action', action, parameter }, { ephemeral: true })
  }

  /** Whether one of these steps was posted, in this attempt or an earlier one. */
  async hasPosted(...steps: string[]) {
    const keys = steps.map((step) => this.#keyOf(step))
    const found = await this.#ctx.db.row(sql`
      select 1 from agent_activities where session_id = ${this.#work.sessionId} and idempotency_key = any(${keys}) limit 1`)
    return found !== undefined
  }

  /** Whether this piece of work has its answer or question. */
  isAnswered() {
    return this.hasPosted(answerStep, questionStep)
  }

  async plan(items: PlanItem[]) {
    await this.#invoke(api.updateAgentSession, { plan: items })
  }

  /** Adds to the totals of the session (usage.built-in). One process works on a session at a time. */
  async addUsage({ model, input, output, cost }: Used) {
    const { sessionId } = this.#work
    const row = await this.#ctx.db.row<{ usage: SessionUsage | null }>(sql`
      select usage from agent_sessions where id = ${sessionId}`)
    const sum = (before: number | null | undefined, added: number) =>
      Math.min(limits.reportedNumber, (before ?? 0) + added)
    const usage: UsageReport = {
      model: model.slice(0, programLimits.modelName),
      input_tokens: sum(row?.usage?.input_tokens, input),
      output_tokens: sum(row?.usage?.output_tokens, output),
      ...(cost === null ? {} : { cost_micros: sum(row?.usage?.cost_micros, cost), currency: 'USD' }),
    }
    await this.#invoke(api.updateAgentSession, { usage })
  }

  /** Suggests changes of the session's issue. Those of an earlier attempt stay, even if these differ. */
  async suggest(step: string, suggestions: NewSuggestion[]) {
    const headers = { 'idempotency-key': this.#keyOf(step) }
    try {
      await this.#invoke(api.suggestChanges, { suggestions: suggestions.slice(0, limits.suggestionsAtOnce) }, headers)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') throw error
    }
  }

  /** One question per piece of work. The person's answer starts a new piece of work. */
  async ask(body: string, options: Option[] = []) {
    const select = options.length > 0 ? { signal: 'select', signal_metadata: { options } } : {}
    await this.#post(questionStep, { type: 'elicitation', body }, select)
  }

  /** The final answer. Only the first `respond` or `fail` of a piece of work has an effect. */
  async respond(body: string) {
    await this.#post(answerStep, { type: 'response', body })
  }

  async fail(body: string, reasonCode: string) {
    await this.#post(answerStep, { type: 'error', body, reason_code: reasonCode })
  }

  /** Does nothing if the agent has already commented there with the same text. */
  async comment({ type, id }: { type: 'issue' | 'project'; id: string }, text: string) {
    const existing = await this.#findComment(id, text)
    if (!existing) await this.#invoke(api.createComment, { target_type: type, target_id: id, text })
  }

  /** Also finds tools that the agent's scopes do not allow; calling one is refused. */
  findTool(name: string) {
    return usableTools.find((tool) => tool.name === name)
  }

  /** A later attempt does not create a comment again: it gets the existing one with the same text. */
  async call(tool: Tool, input: Record<string, unknown>) {
    const repeats = this.#work.attempt > 1 && tool.operation === api.createComment
    const existing = repeats && (await this.#findComment(input.target_id, input.text))
    const [used, given] = existing
      ? [readComment, { comment_id: existing.id }]
      : [tool, this.#withOwnSession(tool, input)]
    return callTool(this.#ctx, this.#door, await this.caller(), used, given, '')
  }

  /** The context that an app would have received when the session was created, as of now. */
  async context() {
    await this.caller()
    const { issueId, projectId, workspaceId, commentId } = this.#work
    return readContext(
      this.#ctx.db,
      this.#ctx.config,
      { issueId, projectId, workspaceId, installationId: null },
      commentId,
    )
  }

  /** The conversation before this piece of work, latest first, read page by page. */
  async *earlierMessages(): AsyncGenerator<AgentActivity> {
    let before = causeSeqOf(this.#work)
    while (before > 1) {
      const next = await this.#activities(sql`
        a.seq < ${before} and a.type in ('prompt', 'elicitation', 'response', 'error')
          and a.signal is distinct from 'stop' order by a.seq desc limit ${messagesPerRead}`)
      yield* next
      before = next.length < messagesPerRead ? 0 : (next.at(-1) as AgentActivity).seq
    }
  }

  /** The latest `count` actions in this piece of work, oldest first. */
  async actionsSoFar(count: number): Promise<AgentActivity[]> {
    const latest = await this.#activities(sql`
      a.seq > ${causeSeqOf(this.#work)} and a.author_kind = 'app' and a.type = 'action'
        order by a.seq desc limit ${count}`)
    return latest.reverse()
  }

  /** Read at every step, so that deleting the agent, reducing its access or losing the claim takes effect at once. */
  async caller(): Promise<App> {
    this.aborted.throwIfAborted()
    const found = await findSessionAgent(this.#ctx, this.#work.sessionId, this.#claimed)
    if (!found) throw new AccessLost()
    return found.caller
  }

  pause(ms: number) {
    return new Promise<void>((resolve, reject) => {
      this.aborted.throwIfAborted()
      const stop = () => {
        cancel()
        reject(this.aborted.reason)
      }
      const cancel = this.#ctx.clock.after(ms, () => {
        this.aborted.removeEventListener('abort', stop)
        resolve()
      })
      this.aborted.addEventListener('abort', stop, { once: true })
    })
  }

  async #activities(which: Sql): Promise<AgentActivity[]> {
    await this.caller()
    const { db, config } = this.#ctx
    return readActivities(db, config, sql`a.session_id = ${this.#work.sessionId} and ${which}`)
  }

  /** Updates of a session and suggestions always apply to this one, whatever id the input has. */
  #withOwnSession({ operation }: Tool, input: Record<string, unknown>) {
    const isOwn = operation === api.updateAgentSession || operation === api.suggestChanges
    return isOwn ? { ...input, session_id: this.#work.sessionId } : input
  }

  /** Finds the agent's comment by target and text. It does not check access: reading the comment does. */
  async #findComment(targetId: unknown, text: unknown) {
    if (typeof targetId !== 'string' || typeof text !== 'string' || textProblem(targetId + text)) return undefined
    const { id } = await this.caller()
    const column = targetId.startsWith('prj_') ? sql`project_id` : sql`issue_id`
    return this.#ctx.db.row<{ id: string }>(sql`
      select id from comments where ${column} = ${targetId} and author_id = ${id} and text = ${text} limit 1`)
  }

  #keyOf(step: string) {
    return `${this.#work.id}:${step}`
  }

  async #invoke(operation: Operation, body: unknown, headers = {}) {
    const params = { session_id: this.#work.sessionId }
    const input = { params, query: {}, body, headers, address: '' }
    return (await this.#door.invoke(operation, await this.caller(), input)).body
  }

  /** A reused key means that an earlier attempt posted this step, perhaps in other words; those stay. */
  async #post(step: string, content: ActivityContent, more = {}) {
    const headers = { 'idempotency-key': this.#keyOf(step) }
    for (;;) {
      try {
        await this.#invoke(api.postActivity, { content, ...more }, headers)
        return
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.code === 'IDEMPOTENCY_KEY_REUSED') return
        if (error.code !== 'RATE_LIMIT_EXCEEDED') throw error
        await this.pause(Number(error.headers['retry-after'] ?? 1) * 1000)
      }
    }
  }
}
