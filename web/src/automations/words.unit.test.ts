import { expect, test } from 'vitest'
import { causeText, reasonOf, resultText, triggerText, withoutConditions } from './words.ts'

test('a trigger is a sentence', () => {
  const schedule = (cron: string) => triggerText({ type: 'schedule', cron, time_zone: 'UTC' })
  expect(schedule('0 9 * * 1')).toBe('Mondays at 9:00 (UTC)')
  expect(schedule('5 4 2 * *')).toBe('At 5 4 2 * * (UTC)')
  expect(triggerText({ type: 'session', outcomes: ['failed', 'stale'] })).toBe('When a session fails or goes stale')
  expect(triggerText({ type: 'issue', on: 'both' })).toBe('When an issue is created or changes')
})

test('a run says why it did nothing', () => {
  expect(reasonOf({ reason: null })).toBeNull()
  expect(reasonOf({ reason: 'own_work' })).toBe('The agent created this issue itself.')
  expect(causeText({ cause: 'manual' })).toBe('Run by its owner')
  expect(causeText({ cause: 'sess_1 4' })).toBe('Agent session')
  expect(causeText({ cause: '2026-03-02T09:00:00.000Z' })).toBe('Schedule')
})

test('the result of an action names it', () => {
  const result = { type: 'delegate' as const, ok: true, subject_id: null }
  expect(resultText({ ...result, message: null })).toBe('Delegate it to an agent')
  expect(resultText({ ...result, message: 'already_delegated' })).toBe(
    'Delegate it to an agent: has a delegate already',
  )
})

test('a change without a condition is explained', () => {
  expect(withoutConditions({ type: 'issue', on: 'changed' })).toMatch(/no change within the team runs it/)
  expect(withoutConditions({ type: 'issue', on: 'both' }, {})).toMatch(/for no other change/)
  expect(withoutConditions({ type: 'issue', on: 'changed' }, { status: ['done'] })).toBeNull()
  expect(withoutConditions({ type: 'issue', on: 'created' }, {})).toBeNull()
  expect(withoutConditions({ type: 'session', outcomes: ['failed'] }, {})).toBeNull()
})
