// npm run faults: injects faults into a running service one after another, and checks afterwards that nothing was lost.
// npm run faults -- restart links: only these scenarios.  --pace 40: writes per second.  --patience 3: multiplies the
// time limits, for a busy machine.  --kills 100 --deliveries 20000 --seed 1: for the storm.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { withPostgres } from '../scripts/postgres.mjs'
import { missingOf, saveShown } from '../scripts/requirements.mjs'
import { build, install, main, StepFailed } from '../scripts/setup.mjs'
import { stopAll } from './processes.mjs'
import { automations } from './scenarios/automations.mjs'
import { backup } from './scenarios/backup.mjs'
import { clock } from './scenarios/clock.mjs'
import { disk } from './scenarios/disk.mjs'
import { failover } from './scenarios/failover.mjs'
import { importing } from './scenarios/import.mjs'
import { killsOnEmbedded, killsOnPostgres } from './scenarios/kills.mjs'
import { links } from './scenarios/links.mjs'
import { locks } from './scenarios/locks.mjs'
import { mail } from './scenarios/mail.mjs'
import { pgbouncer } from './scenarios/pgbouncer.mjs'
import { receivers } from './scenarios/receivers.mjs'
import { restart } from './scenarios/restart.mjs'
import { storm } from './scenarios/storm.mjs'

const scenarios = [
  killsOnEmbedded,
  killsOnPostgres,
  restart,
  links,
  locks,
  disk,
  clock,
  receivers,
  mail,
  automations,
  importing,
  backup,
  storm,
  pgbouncer,
  failover,
]
const problemsShown = 20

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pace: { type: 'string', default: '40' },
    patience: { type: 'string', default: '1' },
    kills: { type: 'string', default: '30' },
    deliveries: { type: 'string', default: '6400' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
})
const options = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]))

await main(async () => {
  const chosen = scenarios.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  const names = scenarios.map(({ name }) => name)
  const unknown = positionals.find((name) => !names.includes(name))
  if (unknown) throw new StepFailed(`Unknown scenario ${unknown}. Scenarios: ${names.join(', ')}`)
  if (!Object.values(options).every(Number.isSafeInteger)) throw new StepFailed('Options must be whole numbers')
  await install()
  await build('Building', 'server')
  const results = []
  await withPostgres(
    async (_url, database) => {
      for (const scenario of chosen) results.push(await play(scenario, database))
    },
    { fsync: true },
  )
  show(results)
  const skipped = results.filter((result) => result.skipped)
  if (skipped.length > 0) console.log(`${process.env.CI ? '✗' : '▲'} ${skipped.length} skipped`)
  const shown = shownBy(results)
  saveShown('npm run faults', shown)
  const missing = chosen.flatMap(({ name }) => missingOf(`npm run faults -- ${name}`, shown))
  if (missing.length > 0) console.log(`✗ not shown: ${missing.join(', ')}`)
  const failed = results.filter(({ problems, skipped }) => problems.length > 0 || (process.env.CI && skipped))
  if (failed.length > 0 || missing.length > 0) process.exitCode = 1
  console.log(`\n${results.length - failed.length} passed, ${failed.length + missing.length} failed`)
})

/** The requirements of the scenarios that ran without a problem. */
function shownBy(results) {
  const passed = results.filter(({ problems, skipped }) => problems.length === 0 && !skipped)
  return new Set(passed.flatMap(({ shows }) => shows))
}

/** A scenario that fails or does not end does not stop the others. */
async function play(scenario, database) {
  const { name, summary, shows = [] } = scenario
  const withinMs = scenario.withinMs * options.patience
  console.log(`\n▸ ${name}: ${summary}`)
  const began = Date.now()
  const url = await database.create(`faults_${name.replaceAll('-', '_')}`)
  const timeout = sleep(withinMs, undefined, { ref: false }).then(() => ({
    problems: [`did not end within ${withinMs / 1000} s`],
  }))
  const result = await Promise.race([scenario.run({ url, database, options }), timeout]).catch((error) => ({
    problems: [error.stack ?? String(error)],
  }))
  stopAll()
  const seconds = Math.round((Date.now() - began) / 1000)
  for (const problem of result.problems.slice(0, problemsShown)) console.log(`  ✗ ${problem}`)
  if (result.problems.length > problemsShown) console.log(`  and ${result.problems.length - problemsShown} more`)
  return { name, seconds, shows, ...result }
}

function show(results) {
  console.log()
  const line = (cells) =>
    console.log(cells.map((cell, index) => String(cell).padEnd([17, 9, 5, 11, 0][index])).join(''))
  line(['scenario', 'result', 's', 'recovered', 'observations'])
  for (const { name, problems, seconds, skipped, recovery, notes } of results) {
    const result = problems.length > 0 ? 'FAILED' : skipped ? 'skipped' : 'ok'
    line([name, result, seconds, recovery ?? '', skipped ?? notes ?? problems[0]?.split('\n')[0] ?? ''])
  }
  const total = results.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(`\n${total} s in total`)
}
