import type { Context } from '../context.ts'
import type { Db } from '../db/database.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { stillAdmitted } from '../login/caller.ts'
import { CoalescedTask } from '../single-flight.ts'

interface Question {
  caller: Actor
  resolve: () => void
  reject: (error: unknown) => void
}

/** Confirms the access of all streams that ask at the same time with one statement: a hint concerns many. */
class AccessChecks {
  #waiting: Question[] = []
  readonly #asking: CoalescedTask

  constructor(ctx: Context) {
    this.#asking = new CoalescedTask(() => this.#answerAll(ctx))
  }

  confirm(caller: Actor): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ caller, resolve, reject })
      void this.#asking.request()
    })
  }

  async #answerAll(ctx: Context) {
    // Waits for the other streams that the same hint wakes.
    await Promise.resolve()
    const questions = this.#waiting
    this.#waiting = []
    // The run before took all of them.
    if (questions.length === 0) return
    try {
      const admitted = await stillAdmitted(
        ctx,
        questions.map(({ caller }) => caller),
      )
      for (const { caller, resolve, reject } of questions) {
        if (admitted.has(caller)) resolve()
        else reject(new ApiError('UNAUTHORIZED'))
      }
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }
}

const checks = new WeakMap<Db, AccessChecks>()

/**
 * Throws unless the caller's login, membership and role, or the app's token, are still those with which the stream was
 * opened. Await it after reading what a stream will send, and before sending it.
 */
export function confirmAccess(ctx: Context, caller: Actor): Promise<void> {
  const ofDatabase = checks.get(ctx.db) ?? new AccessChecks(ctx)
  checks.set(ctx.db, ofDatabase)
  return ofDatabase.confirm(caller)
}
