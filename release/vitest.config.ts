import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ConformanceReporter } from '../conformance/reporter.ts'

const results = process.env.BATON_TEST_RESULTS

/** Tests outside `npm test`; scripts/own-command.mjs runs those of one command. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    // They start whole programs, which would slow each other down.
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
    allowOnly: !process.env.CI,
    include: ['release/**/*.test.ts'],
    reporters: ['default', ...(results ? [new ConformanceReporter(results)] : [])],
    slowTestThreshold: 60_000,
  },
})
