// What most scenarios have in common: a company at work before, during and after something breaks.
import { setTimeout as sleep } from 'node:timers/promises'
import { Company } from './company.mjs'
import { Ledger } from './ledger.mjs'
import { Journal } from './processes.mjs'

/** Windows of a second, of which the median counts. */
const windows = 5
/** Of what was done before, by the median of as many windows after. */
const enough = 0.98
const recoveredWithinMs = 60_000
const warmUpMs = 2000

/**
 * Starts services with `start(journal)`, has a company work there, lets `strike(company)` break something, and sees that
 * the work comes back to what it was and nothing was lost.
 */
export async function underLoad({ pace }, { start, strike }) {
  const journal = new Journal()
  const ledger = await Ledger.start()
  const services = await start(journal)
  for (const service of services) await service.untilReady()
  const fronts = services.filter(({ role }) => role !== 'worker')
  const company = new Company(fronts, ledger, pace)
  await company.settleIn()
  try {
    company.start()
    await sleep(warmUpMs)
    const before = await company.measure(windows)
    console.log(`  ${rates(before)}`)
    const seen = await strike(company, { before, ledger, services })
    console.log('  struck')
    const { after, seconds } = await recovered(company, before)
    console.log(`  ${rates(after)}`)
    await company.stop()
    for (const service of services) await service.untilReady()
    await company.settle()
    const problems = [...(seen?.problems ?? []), ...(await company.problems()), ...endsOf(journal)]
    if (seconds === null) problems.push(`did not recover: ${rates(before)} before, ${rates(after)} after`)
    const { issues, activities, delegated } = company.figures
    const notes = [
      before.writes < enough * pace ? `the machine was too busy for ${pace} writes a second` : undefined,
      `${rates(before)} before, ${rates(after)} after`,
      seen?.notes,
      `${issues} issues, ${activities} activities, ${delegated} for the agent, ${ledger.repeats} deliveries twice`,
      [...company.answers].map(([why, times]) => `${why}: ${times}`).join(', '),
    ]
    for (const [text, times] of journal.errors) console.log(`  logged as an error ${times} times: ${text}`)
    return { problems, recovery: seconds === null ? 'never' : `${seconds} s`, notes: notes.filter(Boolean).join('; ') }
  } finally {
    await company.stop()
    for (const service of services) service.stop()
    ledger.stop()
  }
}

const rates = ({ writes, deliveries }) => `${writes}+${deliveries}/s`

/** The first stretch of windows whose medians are what they were; until then, how long it took. */
async function recovered(company, before) {
  const began = Date.now()
  for (;;) {
    const after = await company.measure(windows)
    const ok = after.writes >= enough * before.writes && after.deliveries >= enough * before.deliveries
    if (ok) return { after, seconds: Math.max(0, Math.round((Date.now() - began) / 1000) - windows) }
    if (Date.now() - began > recoveredWithinMs) return { after, seconds: null }
  }
}

const endsOf = ({ unexpectedEnds }) => unexpectedEnds.filter(({ atWork }) => atWork).map(({ text }) => text)
