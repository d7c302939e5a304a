// Runs before a change is merged (.ci/run): the same parts every time. Ends with all failures, a table of the parts, the
// requirements that these parts did not show, and one line of counts.
//   --only 'Query plans'  only this part, without the comparison with the requirements
import { execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { summaryOf } from './ci-summary.mjs'
import { repeatedOnPostgres } from './embedded-tests.mjs'
import { forgetShown, neverShown } from './requirements.mjs'
import { root } from './setup.mjs'

const script = (name, ...args) => ['npm', 'run', '--silent', name, ...(args.length > 0 ? ['--', ...args] : [])]

/** A clone without history does not have the version to upgrade from. */
const isShallow =
  execFileSync('git', ['rev-parse', '--is-shallow-repository'], { cwd: root, encoding: 'utf8' }).trim() === 'true'

const parts = [
  ['npm test', ['npm', 'test']],
  ['Processes on PostgreSQL', script('test:process', '--postgres', ...repeatedOnPostgres)],
  ['Programs of others', script('test:foreign', '--release')],
  ['Real coding agents', script('test:agents')],
  ['Query plans', script('check:plans')],
  ['Other versions of Node', script('check:nodes')],
  ['README in a fresh clone', [process.execPath, 'scripts/try-readme.mjs']],
  ['Proxies', script('test:proxies')],
  ['Backup and move', script('test:backup')],
  ...(isShallow ? [] : [['Rolling upgrade', script('test:upgrade')]]),
  ['Image', script('test:image')],
  ['Failover and PgBouncer', script('faults', 'failover', 'pgbouncer')],
  ['Long tests', script('test:long')],
]

/** Requirements that other commands show (`shown_by`) are left to those, which a release runs. */
const commands = [
  'npm run test:agents',
  'npm run test:proxies',
  'npm run test:backup',
  ...(isShallow ? [] : ['npm run test:upgrade']),
  'npm run test:image',
  'npm run faults -- failover',
  'npm run faults -- pgbouncer',
]

const { values: flags } = parseArgs({ options: { only: { type: 'string', multiple: true } } })
const chosen = parts.filter(([title]) => !flags.only || flags.only.includes(title))

if (chosen.length === 0) throw new Error(`There is no such part. Parts: ${parts.map(([title]) => title).join(', ')}`)

if (isShallow) console.log('▲ The rolling upgrade is left out: this clone has no history')
forgetShown()
const results = []
for (const [title, command] of chosen) {
  console.log(`\n━━ ${title}: ${command.join(' ')}`)
  const began = performance.now()
  const ran = await runPart(command)
  results.push({ title, ...ran, seconds: Math.round((performance.now() - began) / 1000) })
}
const isWhole = results.length === parts.length
const { lines, failed } = summaryOf(results, isWhole ? neverShown(commands) : [])
for (const line of lines) console.log(line)
if (failed > 0) process.exitCode = 1

/** Shows the output and returns its lines. */
async function runPart([command, ...args]) {
  // In CI a missing program is installed or a failure, a test marked `only` is a failure, and a failed test is retried
  // once.
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      console.log(line)
      output.push(line)
    })
  }
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('close', resolve)
  })
  return { code, output }
}
