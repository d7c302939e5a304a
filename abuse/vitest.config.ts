import { defineConfig } from 'vitest/config'
import { project, withDatabase } from '../vitest.config.ts'

/** All tests in this folder, including those that take minutes. */
export default defineConfig({
  test: { projects: [project('abuse', ['abuse/**/*.test.ts'], withDatabase(process.env.DATABASE_URL ?? ''))] },
})
