import { expect, test } from 'vitest'
import { cronOf, scheduleText, simpleOf } from './schedule.ts'

test.each([
  ['0 9 * * *', { repeat: 'day', time: '09:00', weekday: 1 }, 'Every day at 9:00'],
  ['5 0 * * 1-5', { repeat: 'weekdays', time: '00:05', weekday: 1 }, 'Weekdays at 0:05'],
  ['30 16 * * 5', { repeat: 'week', time: '16:30', weekday: 5 }, 'Fridays at 16:30'],
  ['0 23 * * 0', { repeat: 'week', time: '23:00', weekday: 0 }, 'Sundays at 23:00'],
  ['59 9 1 * *', { repeat: 'month', time: '09:59', weekday: 1 }, 'On the first of the month at 9:59'],
])('%s is a simple schedule', (cron, simple, text) => {
  expect(simpleOf(cron)).toEqual(simple)
  expect(cronOf(simple as never)).toBe(cron)
  expect(scheduleText(cron)).toBe(text)
})

test.each(['*/15 * * * *', '0 9 2 * *', '0 9 1 * 1', '0 24 * * *', '60 9 * * *', '0 9 * 1 *', '0 9 * * 7', ''])(
  '“%s” needs cron',
  (cron) => {
    expect(simpleOf(cron)).toBeNull()
    expect(scheduleText(cron)).toBe(`At ${cron}`)
  },
)
