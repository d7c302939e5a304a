import { type Command, useCommands } from '../ui/shortcuts.ts'
import type { CurrentRow, useSelection } from './list/rows.ts'
import { type Action, bulkFields } from './row-actions.ts'

interface Props {
  current: CurrentRow
  selection: ReturnType<typeof useSelection>
  /** The number of rows that Page up and Page down move. */
  pageSize: () => number
  /** Focuses the list, so that screen readers announce the current row. */
  focus: () => void
  open: () => void
  peek: () => void
  rename: () => void
  escape: () => void
  runAction: (action: Action) => void
  /** The left and right arrow keys, and the titles of their commands. */
  sideways?: { left: string; right: string; go: (by: 1 | -1) => void }
  /** Present while a group is collapsed. */
  expandAll?: () => void
}

/** The shortcuts of the list and the board. */
export function useRowCommands(props: Props) {
  const { current, selection, pageSize, focus, runAction, sideways, expandAll } = props
  const { latest } = current
  /** Without it, commands on issues would do nothing, so the palette does not list them. */
  const hasTarget = current.row !== undefined || selection.issues.length > 0
  const to = (index: number) => {
    current.goTo(index)
    focus()
  }
  const by = (rows: number) => {
    current.move(rows)
    focus()
  }
  const goSideways = (by: 1 | -1) => {
    sideways?.go(by)
    focus()
  }
  const currentRow = () => latest.current.rows[latest.current.index]
  const hidden = (id: string, title: string, keys: string, run: () => void): Command => ({
    id,
    title,
    section: 'Selection',
    keys,
    hidden: true,
    run,
  })
  const action = (id: string, title: string, keys: string | undefined, action: Action): Command => ({
    id,
    title,
    section: 'Issue',
    ...(keys && { keys }),
    ...(!hasTarget && { hidden: true }),
    run: () => runAction(action),
  })
  useCommands([
    hidden('issues.next', 'Next issue', 'j', () => by(1)),
    hidden('issues.previous', 'Previous issue', 'k', () => by(-1)),
    hidden('issues.down', 'Next issue', 'arrowdown', () => by(1)),
    hidden('issues.up', 'Previous issue', 'arrowup', () => by(-1)),
    hidden('issues.page-down', 'Page down', 'pagedown', () => by(pageSize())),
    hidden('issues.page-up', 'Page up', 'pageup', () => by(-pageSize())),
    hidden('issues.first', 'First issue', 'home', () => to(0)),
    hidden('issues.last', 'Last issue', 'end', () => to(latest.current.rows.length - 1)),
    ...(sideways
      ? [
          hidden('issues.left', sideways.left, 'arrowleft', () => goSideways(-1)),
          hidden('issues.right', sideways.right, 'arrowright', () => goSideways(1)),
        ]
      : []),
    ...(expandAll
      ? [{ id: 'issues.expand-all', title: 'Expand all groups', section: 'View' as const, run: expandAll }]
      : []),
    hidden('issues.select', 'Select', 'x', () => {
      const row = currentRow()
      if (row) selection.toggle(row)
    }),
    hidden('issues.select-to', 'Select range', 'shift+x', () => {
      const row = currentRow()
      if (row) selection.extendTo(row)
    }),
    hidden('issues.select-down', 'Extend selection down', 'shift+arrowdown', () => extend(1)),
    hidden('issues.select-up', 'Extend selection up', 'shift+arrowup', () => extend(-1)),
    { id: 'issues.select-all', title: 'Select all', section: 'Selection', keys: 'mod+a', run: selection.all },
    hidden('issues.open', 'Open', 'enter', props.open),
    hidden('issues.open-page', 'Open full page', 'o', props.open),
    hidden('issues.peek', 'Preview', 'space', props.peek),
    {
      id: 'issues.rename',
      title: 'Rename',
      section: 'Issue',
      keys: 'r',
      ...(!current.row && { hidden: true }),
      run: props.rename,
    },
    ...bulkFields.map((field) => action(`issues.${field.id}`, field.action ?? field.label, field.keys, field.id)),
    action('issues.move', 'Move to…', 'm', 'move'),
    action('issues.delete', 'Delete', '#', 'delete'),
    { ...action('issues.delete-too', 'Delete', 'backspace', 'delete'), hidden: true },
    hidden('issues.escape', 'Back', 'escape', props.escape),
  ])

  function extend(by: 1 | -1) {
    const before = currentRow()
    if (before) selection.extendTo(before)
    const row = current.move(by)
    if (row) selection.extendTo(row)
    focus()
  }
}
