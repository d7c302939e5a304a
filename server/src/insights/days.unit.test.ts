import { describe, expect, test } from 'vitest'
import { dayOf, periodsOf, plusDays, rangeOf } from './days.ts'
import { partsOf } from './rollup.ts'

const now = new Date('2026-03-04T12:00:00.000Z')

describe('the range of a report', () => {
  test('is 90 days by week until today, if nothing is said', () => {
    expect(rangeOf({}, now)).toEqual({ from: '2025-12-05', to: '2026-03-04', by: 'week' })
    expect(rangeOf({ to: '2026-01-31' }, now)).toMatchObject({ from: '2025-11-03', to: '2026-01-31' })
    expect(rangeOf({ from: '2026-03-04' }, now)).toMatchObject({ from: '2026-03-04', to: '2026-03-04' })
  })
})

describe('periods', () => {
  test('are whole weeks from Monday, but for the first and the last', () => {
    expect(periodsOf({ from: '2026-02-26', to: '2026-03-10', by: 'week' })).toEqual([
      { from: '2026-02-26', to: '2026-03-01' },
      { from: '2026-03-02', to: '2026-03-08' },
      { from: '2026-03-09', to: '2026-03-10' },
    ])
  })

  test('are months of any length', () => {
    expect(periodsOf({ from: '2024-01-31', to: '2024-03-01', by: 'month' })).toEqual([
      { from: '2024-01-31', to: '2024-01-31' },
      { from: '2024-02-01', to: '2024-02-29' },
      { from: '2024-03-01', to: '2024-03-01' },
    ])
  })

  test('cover every day of the range once', () => {
    for (const by of ['day', 'week', 'month'] as const) {
      const periods = periodsOf({ from: '2025-03-05', to: '2026-03-04', by })
      expect(periods[0]?.from).toBe('2025-03-05')
      expect(periods.at(-1)?.to).toBe('2026-03-04')
      for (const [index, { from }] of periods.entries()) {
        if (index > 0) expect(from).toBe(plusDays(periods[index - 1]?.to as string, 1))
      }
    }
  })
})

test('rows are written in parts of whole days', () => {
  const rows = [1, 2, 2, 2, 3, 4].map((day, value) => ({ day: dayOf(`2026-03-0${day}`), value }))
  const parts = [...partsOf(rows, '2026-03-01', '2026-03-06', 2)]
  expect(parts.map(({ from, until, rows }) => [from, until, rows.map(({ value }) => value)])).toEqual([
    ['2026-03-01', '2026-03-03', [0, 1, 2, 3]],
    ['2026-03-03', '2026-03-06', [4, 5]],
  ])
  expect([...partsOf([], '2026-03-01', '2026-03-06')]).toEqual([{ from: '2026-03-01', until: '2026-03-06', rows: [] }])
})
