/** Schedules that need no knowledge of cron. */
export const repeats = {
  day: 'Every day',
  weekdays: 'Weekdays',
  week: 'Every week',
  month: 'On the first of the month',
}
export type Repeat = keyof typeof repeats

export const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

export interface Simple {
  repeat: Repeat
  /** Such as 09:00. */
  time: string
  /** The index of the weekday; Monday where the schedule has none. */
  weekday: number
}

const two = (digits: string) => digits.padStart(2, '0')

/** A cron expression as a simple schedule, or null if it is none. */
export function simpleOf(cron: string): Simple | null {
  const [, minute, hour, day, weekday] = /^(\d\d?) (\d\d?) (\*|1) \* (\*|1-5|[0-6])$/.exec(cron) ?? []
  if (!minute || !hour || Number(minute) > 59 || Number(hour) > 23) return null
  const simple = { time: `${two(hour)}:${two(minute)}`, weekday: 1 }
  if (day === '1') return weekday === '*' ? { ...simple, repeat: 'month' } : null
  if (weekday === '*') return { ...simple, repeat: 'day' }
  return weekday === '1-5' ? { ...simple, repeat: 'weekdays' } : { ...simple, repeat: 'week', weekday: Number(weekday) }
}

export function cronOf({ repeat, time, weekday }: Simple): string {
  const [hour, minute] = time.split(':').map(Number)
  const days = { day: '* * *', weekdays: '* * 1-5', week: `* * ${weekday}`, month: '1 * *' }[repeat]
  return `${minute} ${hour} ${days}`
}

/** "Mondays at 9:00" */
export function scheduleText(cron: string): string {
  const simple = simpleOf(cron)
  if (!simple) return `At ${cron}`
  const { repeat, time, weekday } = simple
  return `${repeat === 'week' ? `${weekdays[weekday]}s` : repeats[repeat]} at ${time.replace(/^0/, '')}`
}
