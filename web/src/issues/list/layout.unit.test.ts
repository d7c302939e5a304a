import { expect, test } from 'vitest'
import type { Group, Row } from '../fields/group-issues.ts'
import { layoutOf } from './layout.ts'

const groupOf = (value: string, length: number): Group => ({
  value,
  rows: Array.from({ length }, (_, index) => ({ key: `${value}${index}`, group: value }) as Row),
})
const groups = [groupOf('a', 2), groupOf('b', 3), groupOf('c', 1)]
const nothing = new Set<string>()
const nameOf = ({ group, row }: { group?: Group; row?: Row | undefined } = {}) => row?.key ?? group?.value

test('lists each group under its heading, without the rows of a collapsed one', () => {
  const layout = layoutOf(groups, { collapsed: new Set(['b']), rowHeight: 36, headHeight: 34 })
  const items = Array.from({ length: layout.length }, (_, index) => layout.item(index))
  expect(items.map((item) => [nameOf(item), item?.top, item?.head])).toEqual([
    ['a', 0, 0],
    ['a0', 34, 0],
    ['a1', 70, 0],
    ['b', 106, 3],
    ['c', 140, 4],
    ['c0', 174, 4],
  ])
  expect(layout.height).toBe(210)
  expect([0, 1, 2].map(layout.itemOfRow)).toEqual([1, 2, 5])
})

test('without headings has only rows', () => {
  const layout = layoutOf([groupOf('none', 3)], { collapsed: nothing, rowHeight: 36, headHeight: 0 })
  expect([0, 1, 2, 3].map((index) => nameOf(layout.item(index)))).toEqual(['none0', 'none1', 'none2', undefined])
  expect([layout.itemOfRow(2), layout.item(2)?.top, layout.height]).toEqual([2, 72, 108])
})

test.each([
  [0, 'a'],
  [33, 'a'],
  [34, 'a0'],
  [70, 'a1'],
  [105, 'a1'],
  [106, 'b'],
  [140, 'b0'],
  [1000, 'c0'],
])('the item at the height %i is %s', (height, name) => {
  const layout = layoutOf(groups, { collapsed: nothing, rowHeight: 36, headHeight: 34 })
  expect(nameOf(layout.item(layout.itemAt(height)))).toBe(name)
})

test('an empty list has no item', () => {
  const layout = layoutOf([], { collapsed: nothing, rowHeight: 36, headHeight: 34 })
  expect([layout.length, layout.height, layout.itemAt(50), layout.item(0)]).toEqual([0, 0, 0, undefined])
})
