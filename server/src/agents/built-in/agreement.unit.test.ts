import { expect, test } from 'vitest'
import { describeSuggestions, type SimilarIssue, suggestFields } from './agreement.ts'

const blue = { id: 'lbl_blue', name: 'Blue' }
const similar = (code: string, fields: Partial<SimilarIssue> = {}): SimilarIssue => ({
  code,
  type: 'task',
  priority: 'no_priority',
  labels: [],
  ...fields,
})
const issue = { type: 'task' as const, priority: 'no_priority' as const, label_ids: [] as string[] }

test('suggests what three of the five most similar issues have and the issue has not', () => {
  const high = { priority: 'high' as const, labels: [blue] }
  const two = [similar('A-1', high), similar('A-2', high), similar('A-3'), similar('A-4')]
  expect(suggestFields(issue, two)).toEqual([])
  // The sixth does not count.
  expect(suggestFields(issue, [...two, similar('A-5'), similar('A-6', high)])).toEqual([])
  const three = [...two, similar('A-5', high)]
  const reason = 'Similar issues have it: A-1, A-2, A-5.'
  expect(suggestFields(issue, three)).toEqual([
    { field: 'priority', value: 'high', reason },
    { field: 'label', value: blue.id, reason },
  ])
  expect(suggestFields({ ...issue, priority: 'high', label_ids: [blue.id] }, three)).toEqual([])
  expect(suggestFields({ ...issue, type: 'bug' }, three)).toContainEqual({
    field: 'type',
    value: 'task',
    reason: 'Similar issues have it: A-1, A-2, A-3, A-4, A-5.',
  })
  expect(suggestFields({ ...issue, priority: 'low' }, two.slice(2))).toEqual([])
  expect(describeSuggestions(suggestFields(issue, three), three)).toEqual([
    `priority **high**. ${reason}`,
    `label **Blue**. ${reason}`,
  ])
})
