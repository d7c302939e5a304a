import { expect, test } from 'vitest'
import { filtersOf, parseInsightSearch } from './search.ts'

test('an address keeps valid filters and drops others', () => {
  const search = { tab: 'flow', from: '2026-01-05', to: 'soon', by: 'year', team_id: 'team_1', agent_id: 7, more: 'x' }
  expect(parseInsightSearch(search)).toEqual({ tab: 'flow', from: '2026-01-05', team_id: 'team_1' })
  expect(parseInsightSearch({ by: 'day', agent_id: 'personal' })).toEqual({ by: 'day', agent_id: 'personal' })
})

test('a report gets only the filters that it has', () => {
  const search = { tab: 'flow', by: 'day', team_id: 'team_1', agent_id: 'usr_1' } as const
  expect(filtersOf(search, 'agents')).toEqual({ by: 'day', team_id: 'team_1', agent_id: 'usr_1' })
  expect(filtersOf(search, 'flow')).toEqual({ by: 'day', team_id: 'team_1' })
  expect(filtersOf(search, 'deliveries')).toEqual({})
})
