import type { Clock } from '../clock.ts'
import { type Db, isConflict, isTimedOut } from '../db/database.ts'
import { none, type Sql, sql, undurably } from '../db/sql.ts'
import type { Logger } from '../log.ts'
import { CoalescedTask } from '../single-flight.ts'

export const channel = 'baton_due'
const endpointsPerStatement = 500
/** Claims and completions lock an endpoint for milliseconds. */
const lockTimeoutMs = 300

/**
 * Tells the workers which endpoints have something to send: the worker of this process directly, others by marking the
 * endpoints due. It runs after the commit, never within: a writer would lock the endpoint's row until its commit, and
 * all writers of a workspace would queue for it. If the process dies in between, `wakeOverlooked` marks the endpoint.
 */
export class EndpointWaker {
  readonly #db: Db
  readonly #clock: Clock
  readonly #log: Logger
  #waiting = new Set<string>()
  readonly #waking = new CoalescedTask(() => this.#wakeAll())
  #localWorker: ((endpointIds: Iterable<string>) => void) | undefined

  constructor(db: Db, clock: Clock, log: Logger) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    db.onCommitted('due', (endpointIds) => this.wake(endpointIds))
  }

  /** Sets the function that wakes the worker of this process. Without one, endpoints are marked due. */
  setLocalWorker(wake: ((endpointIds: Iterable<string>) => void) | undefined) {
    this.#localWorker = wake
  }

  wake(endpointIds: Iterable<string>) {
    if (this.#localWorker) this.#localWorker(endpointIds)
    else this.wakeOthers(endpointIds)
  }

  /** Marks endpoints due, and wakes the workers of other processes. */
  wakeOthers(endpointIds: Iterable<string>) {
    for (const id of endpointIds) this.#waiting.add(id)
    if (this.#waiting.size > 0) void this.#waking.request()
  }

  /** Resolves when all endpoints are marked and the workers woken. */
  async idle() {
    await this.#waking.idle()
  }

  async #wakeAll() {
    try {
      while (this.#waiting.size > 0) {
        const ids = [...this.#waiting].slice(0, endpointsPerStatement)
        for (const id of ids) this.#waiting.delete(id)
        await this.#markDue(ids).catch((error) => {
          if (!isConflict(error)) throw error
          for (const id of ids) this.#waiting.add(id)
        })
        await this.#db.notify(channel)
      }
    } catch (error) {
      const { message } = error as Error
      this.#log.warn({ message }, 'could not mark endpoints due; the 5 s sweep will find them')
      this.#waiting.clear()
    }
  }

  /** Skips endpoints that stay locked, so that the others do not wait for them. */
  async #markDue(ids: string[]) {
    try {
      await markDue(this.#db, ids, this.#clock.now(), none)
    } catch (error) {
      if (!isTimedOut(error)) throw error
      await markDue(this.#db, ids, this.#clock.now(), sql`skip locked`)
    }
  }
}

/**
 * Also updates endpoints that are due already: a claim in progress may be about to postpone one, and the changed turn
 * makes it skip the endpoint. Locks in the order of the ids, so that two calls cannot deadlock.
 */
const markDue = (db: Db, endpointIds: string[], now: Date, lockOption: Sql) =>
  db.run(sql`
    ${undurably}, timeout as materialized (select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)), held as (
      select id, next_due_at from endpoints, undurable, timeout where id = any(${endpointIds}) and deleted_at is null
      order by id for no key update of endpoints ${lockOption}
    )
    update endpoints e set turn = e.turn + 1, next_due_at = least(h.next_due_at, ${now})
    from held h where e.id = h.id`)
