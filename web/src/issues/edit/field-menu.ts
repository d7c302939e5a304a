import type { Issue } from '@baton/protocol'
import { knownIssue } from '../../data/issues.ts'
import { useDelegate } from '../../delegation/delegate.tsx'
import { none, type Option, usePicker } from '../../ui/picker.tsx'
import type { Directory } from '../fields/directory.ts'
import { doneText, optionsOf } from '../fields/field.tsx'
import { type FieldId, fields, filterLabel } from '../fields/fields.tsx'
import type { Grouping } from '../fields/filter-and-group.ts'
import { fieldMenu } from '../fields/menu.ts'
import { editIssues } from './edit.ts'

/** "ENG-4" or "3 issues", for messages. */
export const nameOfAll = (issues: readonly Issue[]) =>
  issues.length === 1 ? (issues[0]?.code ?? '') : `${issues.length} issues`

const idsOf = (issues: readonly Issue[]) => issues.map(({ id }) => id)

/** Opens the menu of a field beside an element, and sets the picked value on all of the issues. */
export function useFieldMenu(directory: Directory) {
  const ask = usePicker()
  const delegate = useDelegate()
  return (id: FieldId, anchor: Element | null, issues: readonly Issue[], title: string) => {
    const field = fields[id]
    if (field.delegates) return delegate(anchor, [...issues])
    const ids = idsOf(issues)
    const menu = fieldMenu(field, issues, directory, {
      title,
      name: nameOfAll(issues),
      latest: () => ids.map(knownIssue).filter((issue) => issue !== undefined),
      apply: (change, done) => editIssues(ids, change, done),
    })
    ask(anchor, menu)
  }
}

/** The grouping of the list or board, and the group that the issues are in. */
interface From {
  grouping: Grouping
  group: string | undefined
}

const moveFields: FieldId[] = ['status', 'project', 'team']

/** Moves issues to another group, status, project or team: the keyboard equivalent of dragging. */
export function useMoveMenu(directory: Directory) {
  const ask = usePicker()
  return (anchor: Element | null, issues: readonly Issue[], { grouping, group }: From) => {
    const groupField = grouping === 'none' || fields[grouping].delegates ? [] : [grouping]
    const ids = [...new Set([...groupField, ...moveFields])]
    const [first] = issues
    ask(anchor, {
      title: 'Move to',
      options: ids.flatMap((id) =>
        optionsOf(fields[id], directory)
          .filter(({ value }) => value !== none || issues.some((issue) => fields[id].clearable?.(issue) ?? true))
          .map((option): Option => ({ ...option, value: `${id}:${option.value}`, group: filterLabel(fields[id]) })),
      ),
      selected: first && issues.every(({ status }) => status === first.status) ? [`status:${first.status}`] : [],
      onPick: (picked, { label }) => {
        const id = ids.find((one) => picked.startsWith(`${one}:`))
        if (!id) return
        const value = picked.slice(id.length + 1)
        const from = id === grouping ? group : undefined
        const done = doneText(fields[id], nameOfAll(issues), value, label)
        void editIssues(idsOf(issues), (issue) => fields[id].change(issue, value, from), done)
      },
    })
  }
}
