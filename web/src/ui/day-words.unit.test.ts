import { expect, test } from 'vitest'
import { daysFor } from './day-options.ts'
import { dayIn } from './day-words.ts'

/** A Monday. */
const now = new Date(2026, 10, 16, 23, 30)

test.each([
  ['today', '2026-11-16'],
  ['Tomorrow', '2026-11-17'],
  ['friday', '2026-11-20'],
  ['fri', '2026-11-20'],
  ['this Friday', '2026-11-20'],
  ['next Friday', '2026-11-27'],
  ['next fri', '2026-11-27'],
  ['monday', '2026-11-23'],
  ['next Monday', '2026-11-23'],
  ['sunday', '2026-11-22'],
  ['next sunday', '2026-11-29'],
  ['next week', '2026-11-23'],
  ['end of this week', '2026-11-20'],
  ['next month', '2026-12-01'],
  ['end of month', '2026-11-30'],
  ['in 2 weeks', '2026-11-30'],
  ['2 weeks', '2026-11-30'],
  ['in two weeks', '2026-11-30'],
  ['in a month', '2026-12-16'],
  ['in 3 days', '2026-11-19'],
  ['24 Dec', '2026-12-24'],
  ['Dec 24', '2026-12-24'],
  ['December 24th, 2027', '2027-12-24'],
  ['24.12.', '2026-12-24'],
  ['3 Jan', '2027-01-03'],
  ['16 nov', '2026-11-16'],
  ['15 nov', '2027-11-15'],
  ['2026-02-28', '2026-02-28'],
])('reads %s as %s', (text, day) => {
  expect(dayIn(text, now)).toBe(day)
})

test.each([
  '',
  'soon',
  'next',
  'fr',
  '2026-02-30',
  '31 Feb',
  '0 Dec',
  '24 Foo',
  'in many weeks',
  '12/24',
  'next tomorrow',
])('reads no day in “%s”', (text) => {
  expect(dayIn(text, now)).toBeNull()
})

test('a month after the 31st is the last day of the next month', () => {
  expect(dayIn('in a month', new Date(2027, 0, 31))).toBe('2027-02-28')
  expect(dayIn('next month', new Date(2026, 11, 31))).toBe('2027-01-01')
})

test('the options of a date are common days, completions of the typed words, or the typed day', () => {
  const labels = (query: string) => daysFor(query, now).map(({ label }) => label)
  expect(labels('')).toEqual(['No due date', 'Today', 'Tomorrow', 'End of this week', 'Next week', 'In two weeks'])
  expect(labels('tom')).toEqual(['Tomorrow'])
  expect(labels('next f')).toEqual(['Next Friday'])
  expect(daysFor('next friday', now)).toEqual([
    { value: '2026-11-27T12:00:00Z', label: 'Next Friday', hint: 'Fri, Nov 27' },
  ])
  expect(daysFor('24 dec', now)).toEqual([{ value: '2026-12-24T12:00:00Z', label: 'Thu, Dec 24', hint: '2026' }])
  expect(labels('in 2 weeks')).toEqual(['Mon, Nov 30'])
  expect(labels('no due')).toEqual(['No due date'])
  expect(labels('whenever')).toEqual([])
})
