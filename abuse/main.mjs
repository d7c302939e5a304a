// npm run abuse: attacks a service and measures the effect on its other users.
//   --count 40000  --seed 1  --postgres
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { withPostgres } from '../scripts/postgres.mjs'
import { bin, build, install, main, run, StepFailed, step } from '../scripts/setup.mjs'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '40000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    postgres: { type: 'boolean', default: false },
  },
})
const { count, seed } = values

await main(async () => {
  if (![count, seed].map(Number).every(Number.isSafeInteger)) throw new StepFailed('Options must be whole numbers')
  await install()
  await build('Building', 'server')
  if (values.postgres) await withPostgres(attack)
  else await attack('')
  await audit()
})

function attack(databaseUrl) {
  const args = ['run', '--config', 'abuse/vitest.config.ts', '--disableConsoleIntercept=true']
  return step(`${count} requests from seed ${seed}, and the other tests`, bin('vitest'), args, {
    env: { DATABASE_URL: databaseUrl, BATON_ABUSE_COUNT: count, BATON_ABUSE_SEED: seed },
    show: true,
  })
}

/** Known vulnerabilities of our dependencies. Needs a registry that supports npm audit. */
async function audit() {
  const { code, output } = await run('npm', ['audit', '--omit=dev', '--json'], { timeoutMs: 60_000 })
  const found = parsed(output)?.metadata?.vulnerabilities
  if (!found) {
    console.log(
      '▸ SKIPPED: npm audit, because the registry does not support it; checksums, scripts and licences were checked',
    )
  } else if (code === 0) {
    console.log('▸ npm audit: no known vulnerabilities')
  } else {
    throw new StepFailed(`npm audit found ${found.total} vulnerabilities; run npm audit --omit=dev to list them`)
  }
}

function parsed(text) {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  } catch {
    return undefined
  }
}
