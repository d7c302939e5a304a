import { api, limits, type Operation } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { effectiveScopes } from '../login/tokens.ts'
import type { Posting } from './mapping.ts'
import { plainText } from './text.ts'

/** The session has ended, or the app was uninstalled: nothing can be posted any more. */
export class SessionOver extends Error {}

/** Two thoughts a second (a2a.pace). */
const thoughtEveryMs = 500

type AppRow = Omit<App, 'kind' | 'workspaceAsked' | 'tokenHash' | 'personalOf' | 'scopes'> & {
  approved: App['scopes'][number][]
  requested: App['scopes'][number][]
}

/** Posts in one session as the app's user, through the door like any app. */
export class Poster {
  readonly #ctx: Context
  readonly #door: Door
  readonly #sessionId: string
  #lastThoughtMs = Number.NEGATIVE_INFINITY
  #pending: Posting | null = null
  #cancelTimer: () => void = () => {}
  /** One post at a time, in order. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(ctx: Context, door: Door, sessionId: string) {
    this.#ctx = ctx
    this.#door = door
    this.#sessionId = sessionId
  }

  /** A replaceable activity may be posted later, or not at all if another follows. */
  async post(posting: Posting): Promise<void> {
    const now = this.#ctx.clock.now().getTime()
    this.#dropPending()
    if (posting.replaceable && now - this.#lastThoughtMs < thoughtEveryMs) {
      this.#pending = posting
      this.#cancelTimer = this.#ctx.clock.after(this.#lastThoughtMs + thoughtEveryMs - now, () => {
        if (this.#pending === posting) void this.post(posting).catch(() => {})
      })
      return
    }
    if (posting.replaceable) this.#lastThoughtMs = now
    await this.#inOrder(() => this.#post(posting))
  }

  /** Adds links, as far as the session has room for them. */
  async addLinks(urls: string[], label: string): Promise<void> {
    for (const url of urls.slice(0, limits.externalUrls)) {
      const link = { url, label: plainText(label, limits.externalUrlLabel) || 'Artifact' }
      await this.#inOrder(() => this.#invoke(api.updateAgentSession, { added_external_urls: [link] })).catch(
        (error) => {
          if (!(error instanceof ApiError && error.code === 'VALIDATION_ERROR')) throw error
        },
      )
    }
  }

  close() {
    this.#dropPending()
  }

  #dropPending() {
    this.#cancelTimer()
    this.#pending = null
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work)
    this.#last = next.catch(() => {})
    return next
  }

  async #post({ key, body }: Posting): Promise<void> {
    for (;;) {
      try {
        await this.#invoke(api.postActivity, body, { 'idempotency-key': key })
        return
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        // Posted before, perhaps in other words.
        if (error.code === 'IDEMPOTENCY_KEY_REUSED') return
        if (error.code !== 'RATE_LIMIT_EXCEEDED') throw error
        const seconds = Number(error.headers['retry-after'] ?? 1)
        await new Promise<void>((resolve) => this.#ctx.clock.after(seconds * 1000, resolve))
      }
    }
  }

  async #invoke(operation: Operation, body: unknown, headers = {}) {
    const input = { params: { session_id: this.#sessionId }, query: {}, body, headers, address: '' }
    try {
      return await this.#door.invoke(operation, await this.#caller(), input)
    } catch (error) {
      const isOver =
        error instanceof ApiError &&
        ['SESSION_ENDED', 'RESOURCE_NOT_FOUND', 'WORKSPACE_PENDING_DELETION'].includes(error.code)
      throw isOver ? new SessionOver() : error
    }
  }

  /** Read for each post, so that an uninstall or a lost scope takes effect at once. */
  async #caller(): Promise<App> {
    const row = await this.#ctx.db.row<AppRow>(sql`
      select i.app_user_id as id, u.display_name as name, i.workspace_id as "workspaceId", a.id as "appId",
        a.name as "appName", i.id as "installationId", i.scopes as approved, a.requested_scopes as requested,
        i.all_teams as "allTeams", i.team_ids as "teamIds", w.deletion_at is not null as "pendingDeletion"
      from agent_sessions s join installations i on i.id = s.installation_id and i.revoked_at is null
      join agent_apps a on a.id = i.app_id join users u on u.id = i.app_user_id
      join workspaces w on w.id = i.workspace_id
      where s.id = ${this.#sessionId}`)
    if (!row) throw new SessionOver()
    const { approved, requested, ...app } = row
    return {
      kind: 'app',
      ...app,
      workspaceAsked: app.workspaceId,
      scopes: effectiveScopes(approved, requested),
      tokenHash: Buffer.alloc(0),
      personalOf: null,
    }
  }
}
