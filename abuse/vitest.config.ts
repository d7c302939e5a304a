import base from '../vitest.config.ts'

/** Everything in here, and one after another, because some of it looks at how long things take. */
export default { ...base, test: { ...base.test, include: ['abuse/**/*.test.ts'], fileParallelism: false } }
