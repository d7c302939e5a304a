import type { AutomationAction, AutomationTrigger } from '@baton/protocol'
import { expect, test } from 'vitest'
import { actionsFor, hasIssue, offeredTypes, placeholderHint } from './places.ts'

const schedule: AutomationTrigger = { type: 'schedule', cron: '0 9 * * 1', time_zone: 'UTC' }
const created: AutomationTrigger = { type: 'issue', on: 'created' }
const create: AutomationAction = { type: 'create_issue' }
const comment: AutomationAction = { type: 'comment', text: 'Hello' }
const team: AutomationAction = { type: 'notify', who: 'team' }

test('on a schedule, actions that need an issue are offered after one that creates it', () => {
  expect(offeredTypes({ trigger: schedule, actions: [create] }, 0)).toEqual(['create_issue', 'notify'])
  expect(offeredTypes({ trigger: schedule, actions: [team, team] }, 1)).toEqual(['create_issue', 'notify'])
  expect(offeredTypes({ trigger: schedule, actions: [create, comment] }, 1)).toHaveLength(6)
  expect(offeredTypes({ trigger: created, actions: [comment] }, 0)).toHaveLength(6)
  // The menu shows what the action is, although the server refuses it.
  expect(offeredTypes({ trigger: schedule, actions: [team, comment] }, 1)).toEqual([
    'create_issue',
    'comment',
    'notify',
  ])
})

test('the first action of a schedule becomes one that needs no issue', () => {
  expect(actionsFor({ trigger: schedule, actions: [comment, comment] })).toEqual([create, comment])
  expect(actionsFor({ trigger: schedule, actions: [{ type: 'notify', who: 'assignee' }] })).toEqual([team])
  const people: AutomationAction = { type: 'notify', user_ids: ['usr_1'] }
  expect(actionsFor({ trigger: schedule, actions: [people] })).toEqual([people])
  expect(actionsFor({ trigger: created, actions: [comment] })).toEqual([comment])
})

test('placeholders of an issue are offered where there is one', () => {
  expect(placeholderHint(hasIssue({ trigger: schedule, actions: [create] }, 0))).toBe(
    'Placeholders: {{date}} {{week}} {{month}}',
  )
  expect(placeholderHint(hasIssue({ trigger: schedule, actions: [create, comment] }, 1))).toContain('{{issue.code}}')
  expect(placeholderHint(hasIssue({ trigger: created, actions: [create] }, 0))).toContain('{{agent.name}}')
})
