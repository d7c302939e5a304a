// npm run model: compares agent sessions with a small model of the contract, for a given number of commands.
//   --commands 100000  --seed 1  --postgres
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { withPostgres } from './postgres.mjs'
import { bin, build, install, main, StepFailed, step } from './setup.mjs'

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    postgres: { type: 'boolean', default: false },
  },
})
const { commands, seed } = values

await main(async () => {
  if (![commands, seed].map(Number).every(Number.isSafeInteger))
    throw new StepFailed('--commands and --seed must be whole numbers')
  await install()
  await build('Building', 'server')
  if (values.postgres) await withPostgres(play)
  else await play('')
})

function play(databaseUrl) {
  const title = `${commands} commands from seed ${seed}`
  return step(title, bin('vitest'), ['run', 'server/src/agent-sessions/model.test.ts'], {
    env: { DATABASE_URL: databaseUrl, BATON_MODEL_COMMANDS: commands, BATON_MODEL_SEED: seed },
    show: true,
  })
}
