import { type ResourceType, WebhookFilters } from '@baton/protocol'
import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { filterKeys, wordOf } from './filter-keys.ts'

test('the form offers every key of every type, with values that the API accepts', () => {
  for (const type of ['Issue', 'Project', 'Comment'] as ResourceType[]) {
    const keys = filterKeys[type]
    expect(Object.keys(keys).sort()).toEqual(Object.keys(WebhookFilters.properties[type].properties).sort())
    for (const [key, { source, none }] of Object.entries(keys)) {
      const values = typeof source === 'string' ? ['x'] : source
      for (const value of [...values, ...(none ? [null] : [])]) {
        expect({ key, value, fits: Check(WebhookFilters, { [type]: { [key]: [value] } }) }).toMatchObject({
          fits: true,
        })
      }
    }
  }
})

test('values are shown as words', () => {
  expect(['in_progress', 'qa', 'assignee_id', 'label_ids'].map(wordOf)).toEqual([
    'In progress',
    'QA',
    'Assignee',
    'Label',
  ])
})
