// What the demo adds to the first start: its company, with the work of its agents, against the next start, which finds it.
import { environmentOf, serviceProgram, startProgram } from '../setting.mjs'

export const shows = ['demo.start-time']

export const rows = [
  {
    name: 'demo at the first start',
    unit: 'ms',
    better: 'less',
    absolute: true,
    target: 5000,
    embeddedTarget: 5000,
    floorIs: 'the start after it',
  },
]

export const ownDatabase = true

export async function run(where) {
  const env = environmentOf(where)
  await startAndStop(env) // migrates
  const filling = await startAndStop({ ...env, BATON_DEMO: '1' })
  const filled = await startAndStop({ ...env, BATON_DEMO: '1' })
  return [{ ours: filling - filled, floor: filled }]
}

async function startAndStop(env) {
  const { readyMs, stop } = await startProgram(serviceProgram, env)
  await stop()
  return readyMs
}
