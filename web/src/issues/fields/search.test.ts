import { viewKeys } from '@baton/protocol'
import { expect, test } from 'vitest'
import { filterFields } from './fields.tsx'
import { isNegated, queryOf, searchOf, valuesOf, withValues } from './search.ts'

test('a saved view can store every filter', () => {
  for (const { id } of filterFields) expect(viewKeys).toContain(id)
})

test('a query of a view is read and written without loss, in the form of the first version too', () => {
  for (const query of ['team=ENG&status=todo%2Cdone&q=door&group=assignee', 'status=%21done&due=overdue%2C7d', '']) {
    const search = searchOf(query)
    expect(searchOf(queryOf(search))).toEqual(search)
  }
  expect(searchOf('status=todo&status=done')).toEqual({ status: 'todo,done' })
})

test('the operator is kept while values change, and removed with the last one', () => {
  const search = withValues({ status: '!todo' }, 'status', ['todo', 'done'])
  expect(search).toEqual({ status: '!todo,done' })
  expect([valuesOf(search, 'status'), isNegated(search, 'status')]).toEqual([['todo', 'done'], true])
  expect(withValues(search, 'status', ['todo'], false)).toEqual({ status: 'todo' })
  expect(withValues(search, 'status', [])).toEqual({})
})
