import type { Context } from '../context.ts'
import type { Db } from '../db/database.ts'

const running = new WeakMap<Db, Set<Promise<void>>>()

/**
 * Runs `work` when the response was handed to the network, so that its duration does not show what the work found. It is
 * lost if the process dies in between: only for work that the user can request again.
 */
export function afterResponse({ db, log }: Context, what: string, work: () => Promise<void>) {
  const tasks = running.get(db) ?? new Set()
  running.set(db, tasks)
  const task = new Promise<void>((resolve) => setImmediate(resolve))
    .then(work)
    .catch((error: Error) => log.warn({ message: error.message }, `${what} failed`))
    .finally(() => tasks.delete(task))
  tasks.add(task)
}

/** Waits for the work of responses that were sent. Call before the database is closed. */
export async function responsesSettled({ db }: Pick<Context, 'db'>) {
  await Promise.all(running.get(db) ?? [])
}
