import { describe, expect, test } from 'vitest'
import { DateOrders, readDay, readTime } from './dates.ts'

test.each([
  ['2026-03-02T09:00:00.123Z', '2026-03-02T09:00:00.123Z'],
  ['2026-03-02T09:00:00+02:00', '2026-03-02T07:00:00.000Z'],
  ['2026-03-02 09:00', '2026-03-02T09:00:00.000Z'],
  ['2026-03-02', '2026-03-02T00:00:00.000Z'],
  ['2026/3/2', '2026-03-02T00:00:00.000Z'],
  ['Wed May 13 2026 11:21:41 GMT+0000 (GMT+00:00)', '2026-05-13T11:21:41.000Z'],
  ['Wed May 13 2026 11:21:41 GMT-0730 (Somewhere)', '2026-05-13T18:51:41.000Z'],
  ['12/Mar/24 9:41 AM', '2024-03-12T09:41:00.000Z'],
  ['12/Mar/24 12:00 AM', '2024-03-12T00:00:00.000Z'],
  ['12/Mar/24 12:00 PM', '2024-03-12T12:00:00.000Z'],
  ['12/Dez/99 23:59', '1999-12-12T23:59:00.000Z'],
  ['12. März 2024', '2024-03-12T00:00:00.000Z'],
  ['3 août 2024', '2024-08-03T00:00:00.000Z'],
  ['Mar 12, 2024 9:41 PM', '2024-03-12T21:41:00.000Z'],
  ['31.12.2025', '2025-12-31T00:00:00.000Z'],
  ['5/5/2025', '2025-05-05T00:00:00.000Z'],
])('%s', (text, iso) => {
  expect(readTime(text, null)).toBe(iso)
})

test.each([
  '',
  'soon',
  '2026-02-30',
  '2026-13-01',
  '31/Apr/24',
  '12/Foo/24',
  '2026-03-02 24:00',
  '2026-03-02 9:60',
  '2026-03-02 13:00 PM',
  '2026-03-02 0:30 AM',
  '1/2/2025',
  '0/0/2025',
  '1889-01-01',
  '3000-01-01',
  `2026-03-02${' '.repeat(100)}`,
])('%j is not a date', (text) => {
  expect(readTime(text, null)).toBeNull()
})

test('a day with a time is the nearest midnight', () => {
  expect(readDay('2026-06-25T23:00:00Z', null)).toBe('2026-06-26')
  expect(readDay('2026-06-25T12:00:00Z', null)).toBe('2026-06-26')
  expect(readDay('2026-06-26T11:59:00Z', null)).toBe('2026-06-26')
  expect(readDay('2026-06-26', null)).toBe('2026-06-26')
})

describe('the order of day and month', () => {
  const ordersOf = (...texts: string[]) => {
    const orders = new DateOrders()
    for (const text of texts) orders.see(text)
    return [orders.order, orders.needed]
  }
  test.each([
    [
      ['1/2/2025', '13/2/2025'],
      ['day-month', false],
    ],
    [
      ['1/2/2025', '2/13/2025'],
      ['month-day', false],
    ],
    [
      ['1-2-25', '12/12/2025'],
      [null, true],
    ],
    [
      ['12/12/2025', '3.4.2025', '2025-03-04', 'x'],
      [null, false],
    ],
    [
      ['13/2/2025', '2/13/2025'],
      [null, true],
    ],
    [['13/14/2025'], [null, false]],
    [[], [null, false]],
  ])('%j', (texts, expected) => {
    expect(ordersOf(...texts)).toEqual(expected)
  })
})
