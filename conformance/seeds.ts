import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach } from 'vitest'

const forced = process.env.BATON_TEST_SEED

/**
 * fast-check prints the seed with a failure; `BATON_TEST_SEED` repeats it later. A run that takes too long is a failure,
 * not a shorter run.
 */
beforeEach(() => {
  fc.configureGlobal({ seed: forced ? Number(forced) : randomInt(2 ** 31), markInterruptAsFailure: true })
})
