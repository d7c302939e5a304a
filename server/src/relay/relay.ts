import { type AttemptAnswer, limits, listenUrl, type RelayedAttempt } from '@baton/protocol'
import { type Clock, plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { Logger } from '../log.ts'
import { notSent, type Outcome, verdictOf } from '../outbound/client.ts'
import { Bells } from './bells.ts'
import { Wait } from './wait.ts'

/** What would have gone to the URL of an endpoint. */
export interface Relayable {
  endpointId: string
  deliveryId: string
  url: string
  headers: Record<string, string>
  body: Buffer
}

interface Connection {
  /** Attempts may wait for it, or somebody else may have taken its place. */
  rung(): void
  /** Clears up after it. Must not fail. */
  gone(): Promise<void>
}

const sweepAfterMs = 60_000

const notRelayed = notSent('network_error')

/**
 * Hands attempts to those who listen in place of a URL (decisions 11). The worker writes a row and rings for the
 * connection; the process that has the connection takes the row and sends it; whichever process gets the answer writes
 * it into the row and rings for the attempt. Whoever waits for an answer deletes the row, answered or not: from then on
 * it is over.
 */
export class Relay {
  readonly #db: Db
  readonly #clock: Clock
  readonly #bells: Bells
  readonly #leaving = new Set<Promise<void>>()

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#bells = new Bells(db, log, 'relay')
  }

  /** What came of it, or undefined when nobody listens. Throws when the database is away. */
  async send(request: Relayable): Promise<Outcome | undefined> {
    if (request.body.length > limits.relayedBytes) return notRelayed
    const id = newId('att')
    const startedAt = this.#clock.now()
    // Before the row is there: an answer may come as soon as it is.
    const wait = new Wait(this.#clock, limits.webhookDeadlineMs)
    const off = this.#bells.on(id, () => wait.wake())
    try {
      const connectionId = await this.#offer(id, request, plus(startedAt, limits.webhookDeadlineMs))
      if (!connectionId) return undefined
      this.#bells.ring(connectionId)
      const answer = await this.#answerTo(id, wait)
      const durationMs = this.#clock.now().getTime() - startedAt.getTime()
      const body = Buffer.from(answer?.body ?? '')
      const verdict = answer ? verdictOf(answer.status) : ({ ok: false, reason: 'timeout', status: null } as const)
      return { ...verdict, durationMs, body, whole: true }
    } finally {
      off()
      wait.over()
    }
  }

  /** Returns the connection of whoever listens now, if anybody does and still may. */
  async #offer(id: string, { endpointId, deliveryId, url, headers, body }: Relayable, deadline: Date) {
    const offered = await this.#db.row<{ connection_id: string }>(sql`
      insert into relayed_attempts
        (id, connection_id, endpoint_id, user_id, delivery_id, url, headers, body, deadline)
      select ${id}, connection_id, endpoint_id, user_id, ${deliveryId}, ${url}, ${JSON.stringify(headers)}::json,
        ${body}::bytea, ${deadline}
      from listeners l where endpoint_id = ${endpointId} and lease_until > ${this.#clock.now()} and exists (
        select from memberships m where m.workspace_id = l.workspace_id and m.user_id = l.user_id
          and (m.role <> 'member' or ${url}::text = ${listenUrl}))
      returning connection_id`)
    return offered?.connection_id
  }

  async #answerTo(id: string, wait: Wait): Promise<{ status: number; body: string } | undefined> {
    for (;;) {
      const late = await wait.next()
      const row = await this.#db.row<{ status: number | null; response: string | null }>(sql`
        delete from relayed_attempts where id = ${id} ${late ? none : sql`and status is not null`}
        returning status, response`)
      if (row?.status) return { status: row.status, body: row.response ?? '' }
      if (late) return undefined
    }
  }

  /** False when there is no such attempt for this person, or no more. */
  async answer(id: string, endpointId: string, userId: string, { status, body }: AttemptAnswer): Promise<boolean> {
    const answered = await this.#db.run(sql`
      update relayed_attempts set status = ${status}, response = ${body ?? null}
      where id = ${id} and endpoint_id = ${endpointId} and user_id = ${userId} and status is null`)
    if (answered > 0) this.#bells.ring(id)
    return answered > 0
  }

  /** Rings for a connection from now on. Returns what ends it. */
  connect(connectionId: string, connection: Connection): () => void {
    const off = this.#bells.on(connectionId, () => connection.rung())
    return () => {
      off()
      const leaving = connection.gone().finally(() => this.#leaving.delete(leaving))
      this.#leaving.add(leaving)
    }
  }

  /** The oldest attempt that waits for a connection, which is to send it. */
  async take(connectionId: string): Promise<RelayedAttempt | undefined> {
    const now = this.#clock.now()
    const row = await this.#db.row<Omit<RelayedAttempt, 'method' | 'body'> & { body: Uint8Array }>(sql`
      update relayed_attempts set sent_at = ${now} where id = (
        select id from relayed_attempts where connection_id = ${connectionId} and sent_at is null and status is null
        order by id limit 1)
      returning id as attempt_id, delivery_id, url, headers, body`)
    return row && { ...row, method: 'POST', body: Buffer.from(row.body).toString('base64') }
  }

  /** Resolves when those who left have been cleared up after. */
  async stop() {
    await Promise.all(this.#leaving)
    await this.#bells.stop()
  }
}

/** What workers left behind that died. */
export const sweepRelayed = (db: Db, now: Date) =>
  db.run(sql`delete from relayed_attempts where deadline < ${plus(now, -sweepAfterMs)}`)
