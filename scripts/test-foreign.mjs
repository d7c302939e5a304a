// npm run test:foreign: installs the packages of foreign/ and runs its tests.
//   --release  packages that cannot be installed are a failure, not skipped tests
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { saveShown } from './requirements.mjs'
import { bin, main, root, StepFailed, step } from './setup.mjs'
import { countsOf, runSuite } from './suite.mjs'

const budgetSeconds = 300
const folder = join(root, 'foreign')
const { values: flags } = parseArgs({ options: { release: { type: 'boolean' } } })

await main(async () => {
  try {
    const args = ['ci', '--prefix', folder, '--workspaces=false', '--prefer-offline', '--ignore-scripts']
    await step('Installing programs of others', 'npm', args)
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    return skipAll()
  }
  const summary = await runSuite({
    name: 'foreign',
    title: 'Tests with programs of others',
    command: bin('vitest'),
    args: ['run', '--config', join('foreign', 'vitest.config.ts')],
    env: { DATABASE_URL: '' },
    budgetSeconds,
  })
  report(summary)
})

/** Without the packages the files cannot be loaded, so their tests are counted by their text. */
function skipAll() {
  const skipped = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/^\s*test\(/gm) ?? []).length
  const note = `${skipped} TESTS WITH PROGRAMS OF OTHERS WERE SKIPPED: their packages cannot be installed`
  console.log(`${flags.release ? '✗' : '▲'} ${note}`)
  report({ passed: 0, failed: flags.release ? 1 : 0, skipped })
}

function report(summary) {
  saveShown('foreign', summary.cited ?? [])
  console.log(`\n${countsOf(summary)}`)
  if (summary.failed > 0) process.exitCode = 1
}
