import type { AgentSession } from '@baton/protocol'
import { expect, test } from 'vitest'
import { deedsOf, questionFor, type Seen } from './deeds.ts'

const startedAt = '2026-03-02T09:00:00.000Z'
const later = '2026-03-02T09:00:00.001Z'
const me = { id: 'usr_me', name: 'Ada' }

const session = (fields: Partial<AgentSession>) =>
  ({
    id: 'sess_1',
    state: 'complete',
    creator: me,
    changes: null,
    end_reason: null,
    created_at: startedAt,
    updated_at: startedAt,
    ...fields,
  }) as AgentSession

const seen = (fields: Partial<Seen>): Seen => ({
  userId: me.id,
  startedAt,
  path: '/issues',
  isBoard: false,
  sessions: [],
  waiting: [],
  ...fields,
})
const deeds = (fields: Partial<Seen>, asked: string[] = []) => deedsOf(seen(fields), new Set(asked))

test('the board counts, the list does not', () => {
  expect(deeds({ isBoard: true })).toEqual(['board'])
  expect(deeds({})).toEqual([])
  expect(deeds({ isBoard: true, path: '/projects' })).toEqual([])
})

test('a question counts as answered if it waited for the viewer and no longer does', () => {
  const waiting = session({ state: 'awaitingInput' })
  expect(questionFor(seen({ sessions: [waiting] }))).toBe(waiting)
  expect(
    questionFor(seen({ sessions: [session({ ...waiting, creator: { id: 'usr_2', name: 'Mei' } })] })),
  ).toBeUndefined()
  expect(deeds({ sessions: [waiting] }, ['sess_1'])).toEqual([])
  expect(deeds({ sessions: [session({ state: 'pending' })] }, ['sess_1'])).toEqual(['answer'])
  expect(deeds({ sessions: [session({ state: 'pending' })] })).toEqual([])
  expect(deeds({ sessions: [session({ end_reason: 'stopped' })] }, ['sess_1'])).toEqual([])
})

test('a Stop and a delegation count if they are later than the start of the tour', () => {
  expect(deeds({ sessions: [session({ end_reason: 'stopped' })] })).toEqual([])
  expect(deeds({ sessions: [session({ end_reason: 'stopped', updated_at: later })] })).toEqual(['stop'])
  expect(deeds({ sessions: [session({ created_at: later })] })).toEqual(['delegate'])
  expect(deeds({ sessions: [session({ created_at: later, creator: { id: 'usr_2', name: 'Mei' } })] })).toEqual([])
})

test('a review counts as decided if it waited and no longer does', () => {
  expect(deeds({ waiting: ['rev_1'] }, ['rev_1'])).toEqual([])
  expect(deeds({ waiting: undefined }, ['rev_1'])).toEqual([])
  expect(deeds({ waiting: ['rev_2'] }, ['rev_1'])).toEqual(['review'])
  expect(deeds({ waiting: ['rev_2'] })).toEqual([])
})
