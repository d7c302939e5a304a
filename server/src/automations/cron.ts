import { automationLimits } from '@baton/protocol'
import { Cron } from 'croner'
import { days, minutes, plus } from '../clock.ts'

export interface Schedule {
  cron: string
  time_zone: string
}

/** How many of the next instants have to lie far enough apart. */
const checkedInstants = 50
/** An instant that the service missed still runs for this time. */
const lateMs = days(1)

const read = ({ cron, time_zone }: Schedule) => new Cron(cron, { timezone: time_zone, mode: '5-part', paused: true })

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** One message for each invalid field. */
export function scheduleProblems(schedule: Schedule, now: Date): Partial<Record<keyof Schedule, string>> {
  if (!isTimeZone(schedule.time_zone)) {
    return { time_zone: 'is not a time zone; use an IANA name such as Europe/Zurich, or UTC' }
  }
  // The library would take nicknames such as @daily, and numbers of parts that it completes.
  if (schedule.cron.trim().split(/\s+/).length !== 5) {
    return { cron: 'must have five fields: minute, hour, day, month and day of the week' }
  }
  let instants: Date[]
  try {
    instants = read(schedule).nextRuns(checkedInstants, now)
  } catch {
    return { cron: 'has a value that is not valid; 0 9 * * 1-5 is 9:00 on weekdays' }
  }
  if (instants.length === 0) return { cron: 'never occurs' }
  const tooClose = instants.some((instant, index) => {
    const next = instants[index + 1]
    return next && next < plus(instant, minutes(automationLimits.everyMinutes))
  })
  return tooClose ? { cron: `must leave at least ${automationLimits.everyMinutes} minutes between two runs` } : {}
}

/** Null if there is none. */
export const nextInstant = (schedule: Schedule, after: Date): Date | null => read(schedule).nextRun(after)

/** What is due at `now` when `nextAt` was the next instant. */
export function dueInstants(schedule: Schedule, nextAt: Date, now: Date) {
  const oldest = plus(now, -lateMs)
  const isOld = nextAt < oldest
  const instants = isOld ? [] : [nextAt]
  // Instants are found after a time, not at it.
  let last = isOld ? plus(oldest, -1) : nextAt
  for (;;) {
    const next = nextInstant(schedule, last)
    if (!next || next > now) break
    instants.push(next)
    last = next
  }
  return { run: instants.at(-1) ?? null, missed: instants.at(-2) ?? (isOld ? nextAt : null) }
}

/** The day of a time in a time zone, such as 2026-03-02. */
export const dayIn = (timeZone: string, time: Date) => {
  const parts = new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    .formatToParts(time)
    .map(({ type, value }) => [type, value])
  const { year, month, day } = Object.fromEntries(parts) as Record<string, string>
  return `${year}-${month}-${day}`
}
