import base from '../vitest.config.ts'

/** All tests in this folder, including those that take minutes. */
export default { ...base, test: { ...base.test, include: ['abuse/**/*.test.ts'] } }
