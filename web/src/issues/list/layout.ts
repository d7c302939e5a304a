import type { Group, Row } from '../fields/group-issues.ts'

/** A row, or the heading of a group. */
interface Item {
  group: Group
  row: Row | undefined
  top: number
  /** The item that is the heading of the group. */
  head: number
}

interface Options {
  collapsed: ReadonlySet<string>
  rowHeight: number
  /** 0 without headings. */
  headHeight: number
}

/** Positions of the items of a list. They follow from the sizes of the groups, so a changed row costs nothing. */
export function layoutOf(groups: readonly Group[], { collapsed, rowHeight, headHeight }: Options) {
  const heads = headHeight > 0 ? 1 : 0
  const end = { head: 0, row: 0, top: 0 }
  const sections = groups.map((group) => {
    const section = { ...end, group }
    const length = collapsed.has(group.value) ? 0 : group.rows.length
    end.head += heads + length
    end.row += length
    end.top += headHeight + length * rowHeight
    return section
  })
  const last = (by: 'head' | 'row' | 'top', value: number) => sections.findLast((section) => section[by] <= value)
  return {
    rowHeight,
    headHeight,
    /** The number of items. */
    length: end.head,
    height: end.top,
    item(index: number): Item | undefined {
      const section = last('head', index)
      if (!section || index >= end.head) return undefined
      const { group, head, top } = section
      const row = index - head - heads
      if (row < 0) return { group, head, top, row: undefined }
      return { group, head, top: top + headHeight + row * rowHeight, row: group.rows[row] }
    },
    itemOfRow(row: number): number {
      const section = last('row', row)
      return section ? section.head + heads + row - section.row : -1
    },
    /** The index of the item at this height, or of the last one. */
    itemAt(height: number): number {
      const at = Math.min(height, end.top - 1)
      const section = last('top', at)
      if (!section) return 0
      const row = Math.floor((at - section.top - headHeight) / rowHeight)
      return section.head + Math.max(0, heads + row)
    },
  }
}

export type Layout = ReturnType<typeof layoutOf>
