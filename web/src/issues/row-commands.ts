import { type Command, useCommands } from '../ui/shortcuts.ts'
import type { CurrentRow, useSelection } from './list/rows.ts'
import type { Deed } from './selection-bar.tsx'

interface Props {
  current: CurrentRow
  selection: ReturnType<typeof useSelection>
  /** How many rows a page has. */
  page: () => number
  /** The list takes the keyboard, so that what is current is read out. */
  focus: () => void
  open: () => void
  peek: () => void
  rename: () => void
  escape: () => void
  doIt: (deed: Deed) => void
  /** What the arrows to the left and right do, and its names. */
  sideways?: { left: string; right: string; go: (by: 1 | -1) => void }
  /** While any is folded. */
  unfoldAll?: () => void
}

/** The keys of the list and the board. */
export function useRowCommands(props: Props) {
  const { current, selection, page, focus, doIt, sideways, unfoldAll } = props
  const { latest } = current
  const to = (index: number) => {
    current.goTo(index)
    focus()
  }
  const by = (rows: number) => {
    current.move(rows)
    focus()
  }
  const aside = (by: 1 | -1) => {
    sideways?.go(by)
    focus()
  }
  const rowNow = () => latest.current.rows[latest.current.index]
  const hidden = (id: string, title: string, keys: string, run: () => void): Command => ({
    id,
    title,
    section: 'Selection',
    keys,
    hidden: true,
    run,
  })
  const deed = (id: string, title: string, keys: string, name: Deed): Command => ({
    id,
    title,
    section: 'Issue',
    keys,
    run: () => doIt(name),
  })
  useCommands([
    hidden('issues.next', 'Next issue', 'j', () => by(1)),
    hidden('issues.previous', 'Previous issue', 'k', () => by(-1)),
    hidden('issues.down', 'Next issue', 'arrowdown', () => by(1)),
    hidden('issues.up', 'Previous issue', 'arrowup', () => by(-1)),
    hidden('issues.page-down', 'A page down', 'pagedown', () => by(page())),
    hidden('issues.page-up', 'A page up', 'pageup', () => by(-page())),
    hidden('issues.first', 'First issue', 'home', () => to(0)),
    hidden('issues.last', 'Last issue', 'end', () => to(latest.current.rows.length - 1)),
    ...(sideways
      ? [
          hidden('issues.left', sideways.left, 'arrowleft', () => aside(-1)),
          hidden('issues.right', sideways.right, 'arrowright', () => aside(1)),
        ]
      : []),
    ...(unfoldAll
      ? [{ id: 'issues.unfold-all', title: 'Unfold all groups', section: 'View' as const, run: unfoldAll }]
      : []),
    hidden('issues.select', 'Select', 'x', () => {
      const row = rowNow()
      if (row) selection.toggle(row)
    }),
    hidden('issues.select-to', 'Select from the last one to here', 'shift+x', () => {
      const row = rowNow()
      if (row) selection.extendTo(row)
    }),
    hidden('issues.select-down', 'Select downwards', 'shift+arrowdown', () => extend(1)),
    hidden('issues.select-up', 'Select upwards', 'shift+arrowup', () => extend(-1)),
    { id: 'issues.select-all', title: 'Select all', section: 'Selection', keys: 'mod+a', run: selection.all },
    hidden('issues.open', 'Open', 'enter', props.open),
    hidden('issues.open-page', 'Open as a page', 'o', props.open),
    hidden('issues.peek', 'Look at it beside the list', 'space', props.peek),
    { id: 'issues.rename', title: 'Rename', section: 'Issue', keys: 'r', run: props.rename },
    deed('issues.status', 'Change status', 's', 'status'),
    deed('issues.priority', 'Change priority', 'p', 'priority'),
    deed('issues.assignee', 'Assign to…', 'a', 'assignee'),
    deed('issues.labels', 'Labels', 'l', 'label'),
    deed('issues.delegate', 'Delegate to an agent', 'd', 'delegate'),
    deed('issues.project', 'Put in project…', 'shift+p', 'project'),
    deed('issues.move', 'Move to…', 'm', 'move'),
    deed('issues.delete', 'Delete', '#', 'delete'),
    { ...deed('issues.delete-too', 'Delete', 'backspace', 'delete'), hidden: true },
    hidden('issues.escape', 'Back', 'escape', props.escape),
  ])

  function extend(by: 1 | -1) {
    const before = rowNow()
    if (before) selection.extendTo(before)
    const row = current.move(by)
    if (row) selection.extendTo(row)
    focus()
  }
}
