import { viewKeys } from '@baton/protocol'
import { expect, test } from 'vitest'
import { filterFields } from './fields.tsx'
import { isNegated, placeOf, queryOf, searchOf, valuesOf, withValues } from './search.ts'

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

test('more filters do not leave My issues or a team; a changed query leaves a saved view', () => {
  const views = [{ id: 'view_1', query: 'status=todo&assignee=usr_1' }]
  const place = (query: string) => placeOf(searchOf(query), 'usr_1', views)
  expect(place('')).toBe('all')
  expect(place('status=todo&layout=board')).toBe('all')
  expect(place('assignee=usr_1')).toBe('mine')
  expect(place('assignee=usr_1&priority=high&peek=ENG-1')).toBe('mine')
  expect(place('assignee=usr_2')).toBe('all')
  expect(place('team=ENG&assignee=usr_1')).toBe('team ENG')
  expect(place('team=ENG,DES')).toBe('all')
  expect(place('team=%21ENG')).toBe('all')
  expect(place('assignee=usr_1&status=todo&peek=ENG-1')).toBe('view view_1')
  expect(place('assignee=usr_1&status=todo&q=door')).toBe('mine')
})
