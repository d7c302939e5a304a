import { type AgentActivity, api, limits, type Operation, type PlanItem } from '@baton/protocol'
import { activitiesAfter } from '../agent-sessions/activities.ts'
import { readContext } from '../agent-sessions/context.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { callTool } from '../tools/call.ts'
import { toolsFor } from '../tools/catalogue.ts'
import type { Tool } from '../tools/tool.ts'
import { agentIn } from './identity.ts'
import type { Hands, Option, Work } from './mind.ts'

/** Said with the hands themselves, or nothing that an agent inside the service could ask. */
const notATool: readonly Operation[] = [api.getMe, api.openAgentSession, api.postActivity, api.updateAgentSession]

/** The agent of the session is no more, or its place is gone. */
export class PlaceLost extends Error {}

type Said = Record<string, unknown> & { type: string }

export class SessionHands implements Hands {
  readonly aborted: AbortSignal
  readonly tools: readonly Tool[] = toolsFor('app').filter(({ operation }) => !notATool.includes(operation))
  readonly #ctx: Context
  readonly #door: Door
  readonly #work: Work

  constructor(ctx: Context, door: Door, work: Work, aborted: AbortSignal) {
    this.#ctx = ctx
    this.#door = door
    this.#work = work
    this.aborted = aborted
  }

  async thought(step: string, body: string) {
    await this.#say(step, { type: 'thought', body })
  }

  async action(step: string, action: string, parameter: string, result?: string) {
    await this.#say(step, { type: 'action', action, parameter, ...(result === undefined ? {} : { result }) })
  }

  async plan(items: PlanItem[]) {
    await this.#invoke(api.updateAgentSession, { plan: items })
  }

  async ask(body: string, options: Option[] = []) {
    const select = options.length > 0 ? { signal: 'select', signal_metadata: { options } } : {}
    await this.#say('question', { type: 'elicitation', body }, select)
  }

  async respond(body: string) {
    await this.#say(lastWord, { type: 'response', body })
  }

  async fail(body: string, reasonCode: string) {
    await this.#say(lastWord, { type: 'error', body, reason_code: reasonCode })
  }

  async comment({ type, id }: { type: 'issue' | 'project'; id: string }, text: string) {
    const caller = await this.caller()
    const column = type === 'issue' ? sql`issue_id` : sql`project_id`
    const said = await this.#ctx.db.row(sql`
      select 1 from comments where ${column} = ${id} and author_id = ${caller.id} and text = ${text} limit 1`)
    if (!said) await this.#invoke(api.createComment, { target_type: type, target_id: id, text })
  }

  async call(tool: Tool, input: Record<string, unknown>) {
    return callTool(this.#ctx, this.#door, await this.caller(), tool, input, '')
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

  async conversation(): Promise<AgentActivity[]> {
    await this.caller()
    const all: AgentActivity[] = []
    for (;;) {
      const { db, config } = this.#ctx
      const next = await activitiesAfter(db, config, this.#work.sessionId, all.at(-1)?.seq ?? 0, limits.activitiesPage)
      all.push(...next)
      if (next.length < limits.activitiesPage) return all
    }
  }

  /** Asked for at every step, so that what was taken away is gone at once. */
  async caller(): Promise<App> {
    this.aborted.throwIfAborted()
    const found = await agentIn(this.#ctx.db, this.#work.sessionId)
    if (!found) throw new PlaceLost()
    return found.caller
  }

  async #invoke(operation: Operation, body?: unknown, query: Record<string, unknown> = {}, headers = {}) {
    const params = { session_id: this.#work.sessionId }
    const input = { params, query, body, headers, address: '' }
    return (await this.#door.invoke(operation, await this.caller(), input)).body
  }

  /** What was said under this key is said: whoever takes work over may have other words for it, and keeps them. */
  async #say(step: string, content: Said, more = {}) {
    const headers = { 'idempotency-key': `${this.#work.id}:${step}` }
    for (;;) {
      try {
        await this.#invoke(api.postActivity, { content, ...more }, {}, headers)
        return
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (error.code === 'IDEMPOTENCY_KEY_REUSED') return
        if (error.code !== 'RATE_LIMIT_EXCEEDED') throw error
        await this.#pause(Number(error.headers['retry-after'] ?? 1) * 1000)
      }
    }
  }

  #pause(ms: number) {
    return new Promise<void>((resolve, reject) => {
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
}

/** One key for all of them, so that a piece of work has one last word, whoever comes to it. */
const lastWord = 'last'
