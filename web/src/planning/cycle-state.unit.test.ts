import { expect, test } from 'vitest'
import { inOrder, stateOfCycle } from './cycle-state.ts'

const now = new Date('2026-05-10T12:00:00Z')
const cycle = (name: string, starts_at: string | null, ends_at: string | null) => ({
  id: name,
  team_id: 'team_1',
  name,
  starts_at,
  ends_at,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
})

test('a cycle is upcoming before its start, current from it, and closed from its end', () => {
  const dates = { starts_at: '2026-05-10T12:00:00Z', ends_at: '2026-05-24T12:00:00Z' }
  expect(stateOfCycle(dates, new Date('2026-05-10T11:59:59.999Z'))).toBe('upcoming')
  expect(stateOfCycle(dates, new Date('2026-05-10T12:00:00Z'))).toBe('current')
  expect(stateOfCycle(dates, new Date('2026-05-24T11:59:59.999Z'))).toBe('current')
  expect(stateOfCycle(dates, new Date('2026-05-24T12:00:00Z'))).toBe('closed')
})

test('a cycle without dates is current', () => {
  expect(stateOfCycle({ starts_at: null, ends_at: null }, now)).toBe('current')
})

test('lists current cycles, then upcoming ones by start, then closed ones with the latest first', () => {
  const cycles = [
    cycle('closed early', '2026-03-01T12:00:00Z', '2026-03-14T12:00:00Z'),
    cycle('later', '2026-07-01T12:00:00Z', null),
    cycle('closed lately', '2026-04-01T12:00:00Z', '2026-04-14T12:00:00Z'),
    cycle('next', '2026-06-01T12:00:00Z', null),
    cycle('now', '2026-05-01T12:00:00Z', '2026-05-14T12:00:00Z'),
  ]
  expect(inOrder(cycles, now).map(({ name }) => name)).toEqual([
    'now',
    'next',
    'later',
    'closed lately',
    'closed early',
  ])
})
