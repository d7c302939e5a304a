import { ArrowDownWideNarrow, Group as GroupIcon, Kanban, List as ListIcon } from 'lucide-react'
import { useRef } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { usePicker } from '../ui/picker.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { fields, filterLabel } from './fields/fields.tsx'
import { type Grouping, groupingOf, groupings, type Sorting, sortingOf, sortings } from './fields/filter-and-group.ts'
import type { IssueSearch } from './fields/search.ts'

const sortNames: Record<Sorting, string> = {
  priority: 'Priority',
  newest: 'Newest',
  updated: 'Updated',
  due: 'Due date',
  manual: 'Manual',
}
const groupName = (grouping: Grouping) => (grouping === 'none' ? 'No grouping' : filterLabel(fields[grouping]))

interface Props {
  search: IssueSearch
  onSearch: (next: (before: IssueSearch) => IssueSearch) => void
}

export function GroupAndSort({ search, onSearch }: Props) {
  const ask = usePicker()
  const groupButton = useRef<HTMLButtonElement>(null)
  const sortButton = useRef<HTMLButtonElement>(null)
  const grouping = groupingOf(search)
  const sorting = sortingOf(search)
  const askGroup = () =>
    ask(groupButton.current, {
      title: 'Group by',
      options: groupings
        .filter((one) => one !== 'none' || search.layout !== 'board')
        .map((value) => ({ value, label: groupName(value) })),
      selected: [grouping],
      onPick: (value) => onSearch((before) => ({ ...before, group: value })),
    })
  const askSort = () =>
    ask(sortButton.current, {
      title: 'Sort by',
      options: sortings.map((value) => ({ value, label: sortNames[value] })),
      selected: [sorting],
      onPick: (value) => onSearch((before) => ({ ...before, sort: value })),
    })
  useCommands([
    { id: 'issues.group', title: 'Group issues by…', section: 'View', keys: 'shift+g', run: askGroup },
    { id: 'issues.sort', title: 'Sort issues by…', section: 'View', keys: 'shift+s', run: askSort },
  ])
  return (
    <>
      <Button
        ref={groupButton}
        size="sm"
        look="quiet"
        icon={GroupIcon}
        aria-label={`Grouped by ${groupName(grouping)}`}
        onClick={askGroup}
      >
        <span className="max-sm:hidden">{groupName(grouping)}</span>
      </Button>
      <Button
        ref={sortButton}
        size="sm"
        look="quiet"
        icon={ArrowDownWideNarrow}
        aria-label={`Sorted by ${sortNames[sorting]}`}
        onClick={askSort}
      >
        <span className="max-sm:hidden">{sortNames[sorting]}</span>
      </Button>
    </>
  )
}

export function LayoutSwitch({ search, onSearch }: Props) {
  const board = search.layout === 'board'
  const show = (layout: 'list' | 'board') =>
    onSearch(({ layout: _, ...others }) => (layout === 'board' ? { ...others, layout } : others))
  useCommands([
    {
      id: 'issues.layout',
      title: board ? 'Show as list' : 'Show as board',
      section: 'View',
      keys: 'b',
      run: () => show(board ? 'list' : 'board'),
    },
  ])
  return (
    <div role="group" aria-label="Layout" className="flex rounded border bg-surface">
      <IconButton label="List" icon={ListIcon} active={!board} aria-pressed={!board} onClick={() => show('list')} />
      <IconButton
        label="Board"
        icon={Kanban}
        command="issues.layout"
        active={board}
        aria-pressed={board}
        onClick={() => show('board')}
      />
    </div>
  )
}
