import { type AgentActivity, api, type Operation, type PlanItem } from '@baton/protocol'
import { readActivities } from '../agent-sessions/activities.ts'
import { readContext } from '../agent-sessions/context/read-context.ts'
import type { Context } from '../context.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type App, grants } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { textProblem } from '../http/validate.ts'
import { callTool } from '../tools/call.ts'
import { tools, toolsFor } from '../tools/catalogue.ts'
import type { Tool } from '../tools/tool.ts'
import type { Claimed } from './claim.ts'
import { agentIn, scopesOf } from './identity.ts'
import { causeSeqOf, type Hands, type Option, type Work } from './mind.ts'

/** Said with the hands themselves, or of no use to an agent inside the service, which is no app and has a session. */
const notATool = ['get_me', 'open_agent_session', 'post_activity', 'update_session_plan']

const readComment = tools.find(({ operation }) => operation === api.getComment) as Tool
const usable = toolsFor('app').filter(({ name }) => !notATool.includes(name))

/** The agent of the session is no more, its place is gone, or others have taken over. */
export class PlaceLost extends Error {}

/** Each may be as long as a body. */
const wordsAtOnce = 20

type Said = Record<string, unknown> & { type: string }

export class SessionHands implements Hands {
  readonly aborted: AbortSignal
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
    this.tools = usable.filter(({ operation: { route } }) => {
      const needed = 'scope' in route ? route.scope : null
      return needed === null || grants(scopesOf(work.agent.kind, ctx.config), needed)
    })
  }

  async thought(step: string, body: string, passing?: 'passing') {
    await this.#say(step, { type: 'thought', body }, { ephemeral: passing !== undefined })
  }

  async action(step: string, action: string, parameter: string, result?: string) {
    await this.#say(step, { type: 'action', action, parameter, ...(result === undefined ? {} : { result }) })
  }

  async announce(step: string, action: string, parameter: string) {
    await this.#say(step, { type: 'action', action, parameter }, { ephemeral: true })
  }

  async said(...steps: string[]) {
    const keys = steps.map((step) => this.#keyOf(step))
    const found = await this.#ctx.db.row(sql`
      select 1 from agent_activities where session_id = ${this.#work.sessionId} and idempotency_key = any(${keys}) limit 1`)
    return found !== undefined
  }

  isAnswered() {
    return this.said(lastWord, question)
  }

  async plan(items: PlanItem[]) {
    await this.#invoke(api.updateAgentSession, { plan: items })
  }

  async ask(body: string, options: Option[] = []) {
    const select = options.length > 0 ? { signal: 'select', signal_metadata: { options } } : {}
    await this.#say(question, { type: 'elicitation', body }, select)
  }

  async respond(body: string) {
    await this.#say(lastWord, { type: 'response', body })
  }

  async fail(body: string, reasonCode: string) {
    await this.#say(lastWord, { type: 'error', body, reason_code: reasonCode })
  }

  async comment({ type, id }: { type: 'issue' | 'project'; id: string }, text: string) {
    const made = await this.#commentMade(id, text)
    if (!made) await this.#invoke(api.createComment, { target_type: type, target_id: id, text })
  }

  toolNamed(name: string) {
    return usable.find((tool) => tool.name === name)
  }

  async call(tool: Tool, input: Record<string, unknown>) {
    const again = this.#work.attempt > 1 && tool.operation === api.createComment
    const made = again && (await this.#commentMade(input.target_id, input.text))
    const [used, given] = made ? [readComment, { comment_id: made.id }] : [tool, this.#inItsSession(tool, input)]
    return callTool(this.#ctx, this.#door, await this.caller(), used, given, '')
  }

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

  async *saidBefore(): AsyncGenerator<AgentActivity> {
    let before = causeSeqOf(this.#work)
    while (before > 1) {
      const next = await this.#activities(sql`
        a.seq < ${before} and a.type in ('prompt', 'elicitation', 'response', 'error')
          and a.signal is distinct from 'stop' order by a.seq desc limit ${wordsAtOnce}`)
      yield* next
      before = next.length < wordsAtOnce ? 0 : (next.at(-1) as AgentActivity).seq
    }
  }

  async doneSoFar(count: number): Promise<AgentActivity[]> {
    const latest = await this.#activities(sql`
      a.seq > ${causeSeqOf(this.#work)} and a.author_kind = 'app' and a.type = 'action'
        order by a.seq desc limit ${count}`)
    return latest.reverse()
  }

  /** Asked for at every step, so that what was taken away is gone at once: the agent, its access, or the work itself. */
  async caller(): Promise<App> {
    this.aborted.throwIfAborted()
    const found = await agentIn(this.#ctx, this.#work.sessionId, this.#claimed)
    if (!found) throw new PlaceLost()
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

  /** What changes a session changes this one, whichever is named. */
  #inItsSession({ operation }: Tool, input: Record<string, unknown>) {
    return operation === api.updateAgentSession ? { ...input, session_id: this.#work.sessionId } : input
  }

  /** By what is asked for alone; whether it may be seen is asked when it is read. */
  async #commentMade(targetId: unknown, text: unknown) {
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

  /** What was said under this key is said: whoever takes work over may have other words for it, and keeps them. */
  async #say(step: string, content: Said, more = {}) {
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

/** One key for all of them, so that a piece of work has one last word, whoever comes to it. */
const lastWord = 'last'
const question = 'question'
