import type { Import } from '@baton/protocol'
import { expect, test } from 'vitest'
import { importsNothing, whySkipped } from './skipped.ts'

const count = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
const one = (issues: Partial<typeof count>, mapping: object, more: object = {}) =>
  ({
    source: 'csv',
    state: 'ready',
    counts: { issues: { ...count, ...issues }, users: count },
    mapping: { default_team_id: 'team_1', teams: {}, columns: { title: 0 }, archived: true, ...mapping },
    ...more,
  }) as unknown as Import

test('says why issues are skipped and what to do', () => {
  expect(whySkipped(one({ created: 2 }, { default_team_id: null }))).toBeNull()
  expect(whySkipped(one({ skipped: 2 }, { default_team_id: null }))).toBe(
    'No column is chosen for the team, and “Team for issues without one” is None. ' +
      'Change the mapping below and preview again.',
  )
  const some = whySkipped(one({ skipped: 2 }, { default_team_id: null, columns: { team: 1 }, teams: { Ops: 'skip' } }))
  expect(some).toMatch(/^Issues without a team are skipped/)
  expect(some).toContain('set to Skip')
  const archived = { archived: false, columns: { archived: 1 } }
  expect(whySkipped(one({ skipped: 1 }, archived))).toMatch(/^Archived issues are skipped/)
  expect(whySkipped(one({ skipped: 1 }, { archived: false }))).toMatch(/^Preview again/)
  expect(whySkipped(one({ skipped: 1 }, {}, { source: 'github' }))).toBe('Pull requests are skipped.')
})

test('nothing to start is a preview that imports none of its issues', () => {
  expect(importsNothing(one({ skipped: 2 }, {}))).toBe(true)
  expect(importsNothing(one({ skipped: 2, created: 1 }, {}))).toBe(false)
  expect(importsNothing(one({ skipped: 2, unchanged: 1 }, {}))).toBe(false)
  expect(importsNothing(one({}, {}))).toBe(false)
  expect(importsNothing(one({ skipped: 2 }, {}, { state: 'canceled' }))).toBe(false)
  const withPeople = one({ skipped: 2 }, {})
  withPeople.counts.users = { ...count, created: 1 }
  expect(importsNothing(withPeople)).toBe(false)
})
