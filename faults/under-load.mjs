// Used by most scenarios: runs a workload before, during and after a fault.
import { setTimeout as sleep } from 'node:timers/promises'
import { Ledger } from './ledger.mjs'
import { Journal } from './processes.mjs'
import { Workload } from './workload.mjs'

/** Number of one-second windows of which the median counts. */
const windows = 5
/** Share of the rate before the fault that counts as recovered. */
const recoveredShare = 0.98
const recoveredWithinMs = 60_000
/** Until the workload has made up for a slow start: until then its rate is above its pace. */
const warmUpMs = 8000

/**
 * Starts services with `start(journal)`, runs a workload on them, injects a fault with `inject(workload)`, and checks that
 * the rates recover and nothing was lost.
 */
export async function underLoad({ pace }, { start, inject }) {
  const journal = new Journal()
  const ledger = await Ledger.start()
  const services = await start(journal)
  for (const service of services) await service.untilReady()
  const apiServices = services.filter(({ role }) => role !== 'worker')
  const workload = new Workload(apiServices, ledger, pace)
  await workload.setUp()
  try {
    workload.start()
    await sleep(warmUpMs)
    const before = await workload.measure(windows)
    console.log(`  ${rates(before)}`)
    const seen = await inject(workload, { before, ledger, services })
    console.log('  fault injected')
    const { after, seconds } = await recovered(workload, before)
    console.log(`  ${rates(after)}`)
    await workload.stop()
    for (const service of services) await service.untilReady()
    await workload.settle()
    const problems = [...(seen?.problems ?? []), ...(await workload.problems()), ...crashesOf(journal)]
    if (seconds === null) problems.push(`did not recover: ${rates(before)} before, ${rates(after)} after`)
    const { issues, activities, delegated } = workload.figures
    const notes = [
      before.writes < recoveredShare * pace ? `the machine was too busy for ${pace} writes per second` : undefined,
      `${rates(before)} before, ${rates(after)} after`,
      seen?.notes,
      `${issues} issues, ${activities} activities, ${delegated} delegated to the agent, ${ledger.repeats} repeated deliveries`,
      [...workload.answers].map(([why, times]) => `${why}: ${times}`).join(', '),
    ]
    for (const [text, times] of journal.errors) console.log(`  logged as an error ${times} times: ${text}`)
    return { problems, recovery: seconds === null ? 'never' : `${seconds} s`, notes: notes.filter(Boolean).join('; ') }
  } finally {
    await workload.stop()
    for (const service of services) service.stop()
    ledger.stop()
  }
}

const rates = ({ writes, deliveries }) => `${writes}+${deliveries}/s`

/** Measures until the medians are those from before. Returns them, and the seconds it took or null. */
async function recovered(workload, before) {
  const began = Date.now()
  for (;;) {
    const after = await workload.measure(windows)
    const ok = after.writes >= recoveredShare * before.writes && after.deliveries >= recoveredShare * before.deliveries
    if (ok) return { after, seconds: Math.max(0, Math.round((Date.now() - began) / 1000) - windows) }
    if (Date.now() - began > recoveredWithinMs) return { after, seconds: null }
  }
}

const crashesOf = ({ unexpectedEnds }) => unexpectedEnds.filter(({ wasReady }) => wasReady).map(({ text }) => text)
