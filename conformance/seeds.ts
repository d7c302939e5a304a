import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach } from 'vitest'

const forced = process.env.BATON_TEST_SEED

/**
 * Property tests take one seed per test, so that a retry repeats the run that failed. fast-check prints it with the
 * failure; `BATON_TEST_SEED` repeats it later. A run that takes too long is a failure, not a shorter run.
 */
const seeds = new Map<string, number>()

beforeEach(({ task }) => {
  const seed = seeds.get(task.id) ?? (forced ? Number(forced) : randomInt(2 ** 31))
  seeds.set(task.id, seed)
  fc.configureGlobal({ seed, markInterruptAsFailure: true })
})
