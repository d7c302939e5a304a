import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ConformanceReporter } from './conformance/reporter.ts'
import { TimesReporter } from './conformance/times-reporter.ts'
import { longTests } from './scripts/long-tests.mjs'

const results = process.env.BATON_TEST_RESULTS

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const place = ({ moduleId }: TestSpecification) => longTests.findIndex((file) => moduleId.endsWith(`/${file}`))
    const sorted = await super.sort(files)
    const long = sorted.filter((file) => place(file) >= 0).sort((a, b) => place(a) - place(b))
    return [...long, ...sorted.filter((file) => place(file) < 0)]
  }
}

export default defineConfig({
  // Tests run on the sources; only tests of whole processes use the build.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    // As in web/e2e: CI retries a failed test once and reports it as flaky.
    retry: process.env.CI ? 1 : 0,
    allowOnly: !process.env.CI,
    hookTimeout: 60_000,
    globalSetup: 'server/test/template.ts',
    setupFiles: ['conformance/seeds.ts', 'conformance/record-times.ts'],
    include: [
      'abuse/*.test.ts',
      'deploy/check/*.test.ts',
      'scripts/*.test.mjs',
      '{protocol,server,conformance,sdk,cli,examples,web/src}/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    // Dependencies of these also have a `source` condition, with TypeScript that Node cannot run.
    server: { deps: { inline: [/@modelcontextprotocol\/client/, /eventsource/] } },
    reporters: [
      'default',
      ...(results ? [new ConformanceReporter(results)] : []),
      ...(process.env.BATON_TEST_TIMES ? [new TimesReporter()] : []),
    ],
    // One line per file; failures are shown in full.
    slowTestThreshold: 60_000,
  },
})
