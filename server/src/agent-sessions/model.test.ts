import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { progress } from '../../test/session-model/command.ts'
import { commands } from '../../test/session-model/commands.ts'
import { SessionModel } from '../../test/session-model/model.ts'
import { ServiceDriver } from '../../test/session-model/service-driver.ts'

/** `npm run model` asks for more, and for a seed that failed. */
const wanted = Number(process.env.BATON_MODEL_COMMANDS ?? 2000)
const firstSeed = Number(process.env.BATON_MODEL_SEED ?? randomInt(2 ** 31))
/** A run, and if it fails, the search for the shortest that fails. */
const mostMsPerRun = 180_000

const timeout = mostMsPerRun + wanted * 200

test(`${wanted} commands leave sessions as the contract has them`, { timeout }, async ({ startApp }) => {
  const app = await startApp({ BATON_INSTALLATION_RATE: '1000000' })
  const plays = fc.asyncProperty(fc.noBias(fc.commands(commands, { maxCommands: 150, size: 'max' })), (steps) =>
    fc.asyncModelRun(async () => {
      const model = new SessionModel(app.clock.now().getTime())
      model.createIssue('A', null)
      return { model, real: await ServiceDriver.start(app) }
    }, steps),
  )
  const started = Date.now()
  for (let seed = firstSeed; progress.steps < wanted; seed++) {
    console.log(
      `model: seed ${seed}, ${progress.steps} commands so far, ${Math.round((Date.now() - started) / 1000)} s`,
    )
    await fc.assert(plays, {
      seed,
      numRuns: 1,
      interruptAfterTimeLimit: mostMsPerRun,
      markInterruptAsFailure: true,
    })
  }
  console.log(`model: ${progress.steps} commands in ${Math.round((Date.now() - started) / 1000)} s`)
  expect(progress.steps).toBeGreaterThanOrEqual(wanted)
})
