import { expect, test } from 'vitest'
import { snoozeOptions, snoozeUntil } from './snooze.ts'

const local = (value: string) => {
  const date = new Date(value)
  return `${date.toDateString()} ${date.getHours()}:${String(date.getMinutes()).padStart(2, '0')}`
}

test('offers the next hours, mornings and days', () => {
  const options = snoozeOptions(new Date(2026, 2, 4, 15, 30))
  expect(options.map(({ label, value }) => [label, local(value)])).toEqual([
    ['In 3 hours', 'Wed Mar 04 2026 18:30'],
    ['Tomorrow', 'Thu Mar 05 2026 9:00'],
    ['Monday', 'Mon Mar 09 2026 9:00'],
    ['In 2 weeks', 'Wed Mar 18 2026 9:00'],
    ['In a month', 'Fri Apr 03 2026 9:00'],
  ])
})

test('on a Sunday, Monday is tomorrow; on a Monday it is a week ahead', () => {
  const labels = (day: number) => snoozeOptions(new Date(2026, 2, day)).map(({ label }) => label)
  expect(labels(8)).not.toContain('Monday')
  const monday = snoozeOptions(new Date(2026, 2, 9, 10)).find(({ label }) => label === 'Monday')
  expect(local(monday?.value ?? '')).toBe('Mon Mar 16 2026 9:00')
})

test('a day of the calendar means its morning', () => {
  expect(local(snoozeUntil('2026-03-20T12:00:00Z'))).toBe('Fri Mar 20 2026 9:00')
  expect(snoozeUntil('2026-03-20T08:00:00.000Z')).toBe('2026-03-20T08:00:00.000Z')
})
