import { plus } from '../clock.ts'
import type { Db } from '../db/database.ts'
import { isLockHeld } from '../db/listen.ts'
import { sql } from '../db/sql.ts'
import { leaseMs } from './claim.ts'

/**
 * The name under which a worker owns endpoints. It contains the advisory lock that the worker holds, if any: only then
 * may others conclude from a free lock that the worker is dead. Without one, its endpoints are lost when the lease ends.
 */
export const ownerName = (workerId: string, lock: number | null) => (lock === null ? workerId : `${workerId}:${lock}`)

/** Called when the worker's lock has changed. `name` is its new name. */
export const renameOwner = (db: Db, workerId: string, name: string) =>
  db.run(sql`update endpoints set owner = ${name} where starts_with(owner, ${workerId})`)

/** Gives up endpoints: those of these owners, or of all before a single worker starts. */
export const giveUpEndpoints = (db: Db, now: Date, owners?: string[]) =>
  db.run(sql`
    update endpoints set owner = null, owner_until = null, wanted_by = null, turn = turn + 1,
      next_due_at = least(next_due_at, ${now})
    where owner ${owners ? sql`= any(${owners})` : sql`is not null`}`)

/**
 * Finds owners whose lock is free. A worker that only lost its connection renames its endpoints, within 250 ms of
 * reaching the database again. So an owner counts as dead when its lock was free in several looks, one second apart.
 */
export class DeadOwners {
  static readonly looks = 3
  readonly #db: Db
  /** Owners whose lock was free in the last look, and in how many looks in succession. */
  #suspected = new Map<string, number>()

  constructor(db: Db) {
    this.#db = db
  }

  async look(now: Date): Promise<string[]> {
    const found = await this.#db
      .rows<{ owner: string }>(sql`
      with locked as materialized (
        -- Every endpoint that has an owner is due before the lease ends.
        select distinct owner from endpoints where next_due_at <= ${plus(now, leaseMs)} and deleted_at is null
          and owner like '%:%'
      )
      select owner from locked where not ${isLockHeld(sql`split_part(owner, ':', 2)::bigint`)}`)
      .catch((error) => {
        // The others could not reach the database either, and need time to rename their endpoints.
        this.#suspected.clear()
        throw error
      })
    this.#suspected = new Map(found.map(({ owner }) => [owner, (this.#suspected.get(owner) ?? 0) + 1]))
    return [...this.#suspected].filter(([, looks]) => looks >= DeadOwners.looks).map(([owner]) => owner)
  }
}
