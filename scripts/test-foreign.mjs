// npm run test:foreign: installs the packages of foreign/ and runs its tests.
//   --release  packages that cannot be installed are a failure, not skipped tests
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bin, main, root, run, StepFailed, step } from './setup.mjs'

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
  console.log('▸ Tests with programs of others')
  const results = join(root, 'node_modules', '.cache', 'tests-foreign.json')
  rmSync(results, { force: true })
  const { code } = await run(bin('vitest'), ['run', '--config', join('foreign', 'vitest.config.ts')], {
    env: { DATABASE_URL: '', BATON_TEST_RESULTS: results },
    show: true,
    timeoutMs: budgetSeconds * 1000,
  })
  const summary = existsSync(results)
    ? JSON.parse(readFileSync(results, 'utf8'))
    : { passed: 0, failed: 0, skipped: 0, remarks: [] }
  for (const remark of summary.remarks) console.log(remark)
  report(summary, code)
})

/** Without the packages the files cannot be loaded, so their tests are counted by their text. */
function skipAll() {
  const skipped = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').match(/^\s*test\(/gm) ?? []).length
  const note = `${skipped} TESTS WITH PROGRAMS OF OTHERS WERE SKIPPED: their packages cannot be installed`
  console.log(`${flags.release ? '✗' : '▲'} ${note}`)
  report({ passed: 0, failed: flags.release ? 1 : 0, skipped }, flags.release ? 1 : 0)
}

function report({ passed, failed, skipped }, code) {
  const failures = code !== 0 && failed === 0 ? 1 : failed
  console.log(`\n${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  if (failures > 0) process.exitCode = 1
}
