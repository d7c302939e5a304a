// What the work of agents adds to the demo at the first start: the whole demo, and its company without agents.
import { dist, withDatabase } from '../setting.mjs'

export const shows = ['demo.start-time']

export const rows = [
  {
    name: 'demo: what its agents add to the first start',
    unit: 'ms',
    better: 'less',
    absolute: true,
    target: 5000,
    embeddedTarget: 5000,
    floorIs: 'the demo without agents',
  },
]

export async function run(whole) {
  const { createDemo, planCompany } = await dist('demo/create.js')
  const { PastClock } = await dist('demo/past-clock.js')
  const { hooks } = await dist('app.js')
  const settingOf = ({ ctx }) => ({ ...ctx, hooks, config: { ...ctx.config, signup: 'open' }, storage: null })
  const withAgents = await timed(() => createDemo(settingOf(whole)))
  // After it, so that what is compiled already makes the difference larger, not smaller.
  const withoutAgents = await withDatabase(whole.db.kind, async (setting) => {
    const past = new PastClock(setting.ctx.clock)
    return timed(async () => {
      await planCompany({ ...settingOf(setting), clock: past }, past)
      await past.run()
    })
  })
  return [{ ours: withAgents - withoutAgents, floor: withoutAgents }]
}

async function timed(work) {
  const started = performance.now()
  await work()
  return performance.now() - started
}
