import { expect, test } from 'vitest'
import { dayOf, daysUntil, isPast, momentOf } from './day.ts'

const due = momentOf('2026-05-04')

test.each([
  ['early on that day', new Date(2026, 4, 4, 0, 1), 0],
  ['late on that day', new Date(2026, 4, 4, 23, 59), 0],
  ['a minute later', new Date(2026, 4, 5, 0, 0), -1],
  ['late the day before', new Date(2026, 4, 3, 23, 59), 1],
  ['a month before, across a change of clocks', new Date(2026, 2, 4, 12), 61],
])('an item is due until the end of its day: %s', (_, now, days) => {
  expect(daysUntil(due, now)).toBe(days)
  expect(isPast(due, now)).toBe(days < 0)
})

test('shows the year of a day in another year', () => {
  expect([dayOf(due, new Date(2026, 0, 1)), dayOf(due, new Date(2027, 0, 1))]).toEqual(['May 4', 'May 4, 2026'])
})
