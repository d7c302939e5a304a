import type { Clock } from '../clock.ts'
import { type Db, isConflict, isTimedOut } from '../db/database.ts'
import { none, type Sql, sql, undurably } from '../db/sql.ts'
import type { Logger } from '../log.ts'

export const channel = 'baton_due'
const idsPerRing = 500
/** Claims and completions hold an endpoint for milliseconds. */
const patienceMs = 300

/**
 * Tells workers that something waits for an endpoint. It rings after the commit, never within: a writer would hold the
 * endpoint's row until its commit and so line up all writers of a workspace. A ring that is lost with its process is
 * made up for by `findForgotten`.
 */
export class Doorbell {
  readonly #db: Db
  readonly #clock: Clock
  readonly #log: Logger
  #waiting = new Set<string>()
  #ringing: Promise<void> | undefined
  #answer: (() => void) | undefined

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    db.onNews('due', (endpointIds) => this.ring(endpointIds))
  }

  /** A worker of this process; without one, other processes are notified. */
  answeredBy(worker: (() => void) | undefined) {
    this.#answer = worker
  }

  ring(endpointIds: Iterable<string>) {
    for (const id of endpointIds) this.#waiting.add(id)
    if (this.#waiting.size > 0) this.#ringing ??= this.#ringAll()
  }

  /** Resolves when everybody has been told. */
  async quiet() {
    await this.#ringing
  }

  async #ringAll() {
    try {
      while (this.#waiting.size > 0) {
        const ids = [...this.#waiting].slice(0, idsPerRing)
        for (const id of ids) this.#waiting.delete(id)
        await this.#makeDue(ids).catch((error) => {
          if (!isConflict(error)) throw error
          for (const id of ids) this.#waiting.add(id)
        })
        if (this.#answer) this.#answer()
        else await this.#db.notify(channel)
      }
    } catch (error) {
      this.#log.warn({ message: (error as Error).message }, 'could not ring for deliveries; they are found by and by')
      this.#waiting.clear()
    } finally {
      this.#ringing = undefined
    }
  }

  /** An endpoint that somebody holds for long is left out, for all others not to wait with it. */
  async #makeDue(ids: string[]) {
    try {
      await makeDue(this.#db, ids, this.#clock.now(), none)
    } catch (error) {
      if (!isTimedOut(error)) throw error
      await makeDue(this.#db, ids, this.#clock.now(), sql`skip locked`)
    }
  }
}

/**
 * Always written, also for an endpoint that is due: a claim under way may be about to put it off, and the changed turn
 * tells it not to. In the order of the ids, so that two rings never wait for each other.
 */
const makeDue = (db: Db, endpointIds: string[], now: Date, orElse: Sql) =>
  db.run(sql`
    ${undurably}, soon as materialized (select set_config('lock_timeout', ${String(patienceMs)}, true)), held as (
      select id, next_due_at from endpoints, undurable, soon where id = any(${endpointIds}) and deleted_at is null
      order by id for no key update of endpoints ${orElse}
    )
    update endpoints e set turn = e.turn + 1, next_due_at = least(h.next_due_at, ${now})
    from held h where e.id = h.id`)
