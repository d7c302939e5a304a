// npm run abuse: attacks a whole service of its own, and looks at what the neighbours notice.
//   --count 20000  --seed 1  --postgres
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { withPostgres } from '../scripts/postgres.mjs'
import { bin, build, install, main, run, StepFailed, step } from '../scripts/setup.mjs'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    postgres: { type: 'boolean', default: false },
  },
})
const { count, seed } = values

await main(async () => {
  if (![count, seed].map(Number).every(Number.isSafeInteger)) throw new StepFailed('The options take whole numbers')
  await install()
  await build('Building', 'server')
  if (values.postgres) await withPostgres(attack)
  else await attack('')
  await audit()
})

function attack(databaseUrl) {
  const args = ['run', '--config', 'abuse/vitest.config.ts', '--disableConsoleIntercept=true']
  return step(`${count} requests from seed ${seed}, and the rest`, bin('vitest'), args, {
    env: { DATABASE_URL: databaseUrl, BATON_ABUSE_COUNT: count, BATON_ABUSE_SEED: seed },
    show: true,
  })
}

/** Known holes in what we ship. It needs a registry that answers such questions. */
async function audit() {
  const { code, output } = await run('npm', ['audit', '--omit=dev', '--json'], { timeoutMs: 60_000 })
  const found = parsed(output)?.metadata?.vulnerabilities
  if (!found) {
    console.log(
      '▸ SKIPPED: npm audit, because the registry does not answer it here; checksums, scripts and licences were looked at',
    )
  } else if (code === 0) {
    console.log('▸ npm audit: nothing known against what is installed')
  } else {
    throw new StepFailed(`npm audit found ${found.total} known holes; npm audit --omit=dev names them`)
  }
}

function parsed(text) {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  } catch {
    return undefined
  }
}
