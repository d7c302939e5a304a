import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { commands } from '../../test/session-model/commands.ts'
import { SessionModel } from '../../test/session-model/model.ts'
import { ServiceDriver } from '../../test/session-model/service-driver.ts'

/** `npm run model` sets more commands, or a seed that failed. */
const commandCount = Number(process.env.BATON_MODEL_COMMANDS ?? 600)
/** The seed that runs now, or that failed: a retry begins with it. */
let seed = Number(process.env.BATON_MODEL_SEED ?? randomInt(2 ** 31))
/** For a run and, if it fails, the search for a shorter failing run. */
const mostMsPerRun = 180_000

const timeout = mostMsPerRun + commandCount * 200

test(`${commandCount} random commands give the same results in the service and in the model`, { timeout }, async ({
  startApp,
}) => {
  const app = await startApp({ BATON_INSTALLATION_RATE: '1000000' })
  const progress = { steps: 0 }
  const property = fc.asyncProperty(fc.noBias(fc.commands(commands, { maxCommands: 150, size: 'max' })), (steps) =>
    fc.asyncModelRun(async () => {
      const model = new SessionModel(app.clock.now().getTime())
      model.createIssue('A', null)
      return { model, real: await ServiceDriver.start(app, progress) }
    }, steps),
  )
  const started = Date.now()
  for (; progress.steps < commandCount; seed++) {
    console.log(
      `model: seed ${seed}, ${progress.steps} commands so far, ${Math.round((Date.now() - started) / 1000)} s`,
    )
    await fc.assert(property, {
      seed,
      numRuns: 1,
      interruptAfterTimeLimit: mostMsPerRun,
      markInterruptAsFailure: true,
    })
  }
  console.log(`model: ${progress.steps} commands in ${Math.round((Date.now() - started) / 1000)} s`)
  expect(progress.steps).toBeGreaterThanOrEqual(commandCount)
})
