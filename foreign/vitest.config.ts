import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { ConformanceReporter } from '../conformance/reporter.ts'

const results = process.env.BATON_TEST_RESULTS

/** Tests that run programs of others against Baton. Their packages are installed in this folder only. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    allowOnly: !process.env.CI,
    globalSetup: 'server/test/template.ts',
    include: ['foreign/*.test.ts'],
    reporters: ['default', ...(results ? [new ConformanceReporter(results)] : [])],
    slowTestThreshold: 60_000,
  },
})
