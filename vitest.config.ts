import { defineConfig } from 'vitest/config'
import { ConformanceReporter } from './conformance/reporter.ts'

const results = process.env.BATON_TEST_RESULTS

export default defineConfig({
  // Tests run on the sources; only whole processes are started from the build.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: 'server/test/template.ts',
    include: ['{protocol,server,conformance,sdk,cli,examples}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // What these import has a condition called source too, in TypeScript, which Node cannot run.
    server: { deps: { inline: [/@modelcontextprotocol\/client/, /eventsource/] } },
    reporters: ['default', ...(results ? [new ConformanceReporter(results)] : [])],
    // One line for each file; what fails is shown whole.
    slowTestThreshold: 60_000,
  },
})
