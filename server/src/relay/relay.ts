import { type AttemptAnswer, limits, listenUrl, type RelayedAttempt } from '@baton/protocol'
import { type Clock, plus } from '../clock.ts'
import type { Db, Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { notSent, type Outcome, verdictOf } from '../outbound/client.ts'
import { Wait } from './wait.ts'
import { Wakeups } from './wakeups.ts'

/** A request that would otherwise go to the endpoint's URL. */
export interface RelayRequest {
  endpointId: string
  deliveryId: string
  url: string
  headers: Record<string, string>
  body: Buffer
}

interface Connection {
  /** Attempts may be waiting, or a newer listener may have replaced this one. */
  wake(): void
  /** Cleans up after the connection. Must not fail. */
  closed(): Promise<void>
}

const sweepAfterMs = 60_000

const notRelayed = notSent('network_error')

/**
 * Sends attempts to listeners in place of a URL (listen.across-nodes). The worker inserts a row and wakes the listener's
 * connection. The process that has the connection sends the row's request. The process that receives the answer writes
 * it into the row and wakes the worker, which deletes the row, answered or not. After that no answer is accepted.
 */
export class Relay {
  readonly #db: Db
  readonly #clock: Clock
  readonly #wakeups: Wakeups
  readonly #closing = new Set<Promise<void>>()

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#wakeups = new Wakeups(db, log, 'relay')
  }

  /** Returns undefined if there is no listener. Throws if the database is unavailable. */
  async send(request: RelayRequest): Promise<Outcome | undefined> {
    if (request.body.length > limits.relayedBytes) return notRelayed
    const id = newId('att')
    const startedAt = this.#clock.now()
    // Before the insert: the answer may arrive right after it.
    const wait = new Wait(this.#clock, limits.webhookDeadlineMs)
    const off = this.#wakeups.on(id, () => wait.wake())
    try {
      const connectionId = await this.#offer(id, request, plus(startedAt, limits.webhookDeadlineMs))
      if (!connectionId) return undefined
      this.#wakeups.wake(connectionId)
      const answer = await this.#answerTo(id, wait)
      const durationMs = this.#clock.now().getTime() - startedAt.getTime()
      const body = Buffer.from(answer?.body ?? '')
      const verdict = answer ? verdictOf(answer.status) : ({ ok: false, reason: 'timeout', status: null } as const)
      return { ...verdict, durationMs, body, whole: true }
    } finally {
      off()
      wait.cancel()
    }
  }

  /** Returns the connection of the current listener, if its user still has permission. */
  async #offer(id: string, { endpointId, deliveryId, url, headers, body }: RelayRequest, deadline: Date) {
    const offered = await this.#db.row<{ connection_id: string }>(sql`
      insert into relayed_attempts
        (id, connection_id, endpoint_id, user_id, delivery_id, url, headers, body, deadline)
      select ${id}, connection_id, endpoint_id, user_id, ${deliveryId}, ${url}, ${JSON.stringify(headers)}::json,
        ${body}::bytea, ${deadline}
      from listeners l where endpoint_id = ${endpointId} and lease_until > ${this.#clock.now()} and (exists (
          select from memberships m where m.workspace_id = l.workspace_id and m.user_id = l.user_id
            and (m.role <> 'member' or ${url}::text = ${listenUrl}))
        or ${url}::text = ${listenUrl} and exists (
          select from installations i where i.app_user_id = l.user_id and i.revoked_at is null))
      returning connection_id`)
    return offered?.connection_id
  }

  async #answerTo(id: string, wait: Wait): Promise<{ status: number; body: string } | undefined> {
    for (;;) {
      const timedOut = await wait.next()
      const row = await this.#db.row<{ status: number | null; response: string | null }>(sql`
        delete from relayed_attempts where id = ${id} ${timedOut ? none : sql`and status is not null`}
        returning status, response`)
      if (row?.status) return { status: row.status, body: row.response ?? '' }
      if (timedOut) return undefined
    }
  }

  /** Returns false if this user has no such attempt waiting for an answer. */
  async answer(id: string, endpointId: string, userId: string, { status, body }: AttemptAnswer): Promise<boolean> {
    const answered = await this.#db.run(sql`
      update relayed_attempts set status = ${status}, response = ${body ?? null}
      where id = ${id} and endpoint_id = ${endpointId} and user_id = ${userId} and status is null`)
    if (answered > 0) this.#wakeups.wake(id)
    return answered > 0
  }

  /** Wakes the connection from now on. Returns a function that closes it. */
  connect(connectionId: string, connection: Connection): () => void {
    const off = this.#wakeups.on(connectionId, () => connection.wake())
    return () => {
      off()
      const closing = connection.closed().finally(() => this.#closing.delete(closing))
      this.#closing.add(closing)
    }
  }

  /** Passes attempts that were not sent yet to the next connection of the same user. */
  handOver(
    tx: Queryable,
    { endpointId, userId, connectionId }: Record<'endpointId' | 'userId' | 'connectionId', string>,
  ) {
    return tx.run(sql`
      update relayed_attempts set connection_id = ${connectionId}
      where endpoint_id = ${endpointId} and user_id = ${userId} and sent_at is null and status is null`)
  }

  /** Returns the oldest attempt waiting for the connection, and marks it sent. */
  async take(connectionId: string): Promise<RelayedAttempt | undefined> {
    const now = this.#clock.now()
    const row = await this.#db.row<Omit<RelayedAttempt, 'method' | 'body'> & { body: Uint8Array }>(sql`
      update relayed_attempts set sent_at = ${now} where id = (
        select id from relayed_attempts where connection_id = ${connectionId} and sent_at is null and status is null
        order by id limit 1)
      returning id as attempt_id, delivery_id, url, headers, body`)
    return row && { ...row, method: 'POST', body: Buffer.from(row.body).toString('base64') }
  }

  /** Resolves when closed connections are cleaned up. */
  async stop() {
    await Promise.all(this.#closing)
    await this.#wakeups.stop()
  }
}

/** Deletes the attempts of workers that died. */
export const sweepRelayed = (db: Db, now: Date) =>
  db.run(sql`delete from relayed_attempts where deadline < ${plus(now, -sweepAfterMs)}`)
