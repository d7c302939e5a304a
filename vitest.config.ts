import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { ConformanceReporter } from './conformance/reporter.ts'
import { TimesReporter } from './conformance/times-reporter.ts'
import { embeddedTests } from './scripts/embedded-tests.mjs'

const results = process.env.BATON_TEST_RESULTS
/** Also that of property tests (conformance/seeds.ts). With it, files run in a random order. */
const seed = process.env.BATON_TEST_SEED
const everywhere = process.env.DATABASE_URL ?? ''
/** The PostgreSQL server that `npm test` starts, if it finds one: most tests take half as long there. */
const postgres = process.env.BATON_TEST_POSTGRES ?? everywhere

// Tests run on the sources; only tests of whole processes use the build.
const conditions = ['source']
const shared: TestProjectInlineConfiguration['test'] = {
  setupFiles: ['conformance/seeds.ts', 'conformance/record-times.ts'],
  pool: 'forks',
  isolate: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // As in web/e2e: CI lists a test that passes only then, and fails if there are two (scripts/ci-summary.mjs).
  retry: process.env.CI ? 1 : 0,
  // Dependencies of these also have a `source` condition, with TypeScript that Node cannot run.
  server: { deps: { inline: [/@modelcontextprotocol\/client/, /eventsource/] } },
}

const folders = '{cli,conformance,deploy/check,examples,protocol,scripts,sdk,server,web/src}'
const [unit, ofProcesses, every] = ['.unit.test', '.process.test', '.test'].map((ending) => [
  `${folders}/**/*${ending}.{ts,mjs}`,
  `abuse/*${ending}.ts`,
]) as [string[], string[], string[]]
const never = ['**/node_modules/**', '**/dist/**']

export const project = (
  name: string,
  include: readonly string[],
  { exclude = [], ...test }: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { ...shared, name, include: [...include], exclude: [...never, ...exclude], ...test },
})

export const withDatabase = (url: string) => ({ globalSetup: 'server/test/template.ts', env: { DATABASE_URL: url } })

const [embeddedProcesses, embeddedServices] = [true, false].map((ofProcess) =>
  embeddedTests.filter((name) => name.includes('.process.') === ofProcess),
) as [string[], string[]]
/** Tests of the embedded database run on it although there is PostgreSQL. */
const onEmbedded = (name: string, include: string[]) =>
  postgres && !everywhere ? [project(name, include, { ...withDatabase(''), exclude: unit })] : []

/** In this order, because processes leave a processor idle while a test waits for them. */
const projects = [
  ...onEmbedded('embedded-process', embeddedProcesses),
  project('process', ofProcesses, {
    ...withDatabase(postgres),
    exclude: postgres && !everywhere ? embeddedProcesses : [],
  }),
  ...onEmbedded('embedded-service', embeddedServices),
  project('service', every, { ...withDatabase(postgres), exclude: [...unit, ...ofProcesses] }),
  project('unit', unit),
]

/** A key that puts files into another order for each seed. */
const shuffled = ({ moduleId }: TestSpecification) => createHash('sha256').update(`${seed} ${moduleId}`).digest('hex')
const compare = (a: string, b: string) => (a < b ? -1 : 1)

class InOrderOfProjects extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const place = ({ project }: TestSpecification) => projects.findIndex(({ test }) => test?.name === project.name)
    const sorted = seed ? files.toSorted((a, b) => compare(shuffled(a), shuffled(b))) : await super.sort(files)
    return sorted.sort((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  test: {
    projects,
    maxWorkers: availableParallelism(),
    sequence: { sequencer: InOrderOfProjects },
    allowOnly: !process.env.CI,
    // One line per file; failures are shown in full.
    slowTestThreshold: 60_000,
    reporters: [
      'default',
      ...(results ? [new ConformanceReporter(results)] : []),
      ...(process.env.BATON_TEST_TIMES ? [new TimesReporter()] : []),
    ],
  },
})
