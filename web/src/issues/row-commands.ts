import { type Command, useCommands } from '../shortcuts.ts'
import type { useCurrentRow, useSelection } from './rows.ts'
import type { Deed } from './selection-bar.tsx'

interface Props {
  current: ReturnType<typeof useCurrentRow>
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
  /** On a board, to the column beside. */
  sideways?: (by: 1 | -1) => void
}

/** The keys of the list and the board. */
export function useRowCommands(props: Props) {
  const { current, selection, page, focus, doIt, sideways } = props
  const { latest } = current
  const to = (index: number) => {
    current.goTo(index)
    focus()
  }
  const by = (rows: number) => {
    current.move(rows)
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
          hidden('issues.left', 'Column to the left', 'arrowleft', () => sideways(-1)),
          hidden('issues.right', 'Column to the right', 'arrowright', () => sideways(1)),
        ]
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
