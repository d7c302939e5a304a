import base from '../vitest.config.ts'

/** Everything in here, what takes minutes too. */
export default { ...base, test: { ...base.test, include: ['abuse/**/*.test.ts'] } }
