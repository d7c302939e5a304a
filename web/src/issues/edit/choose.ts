import type { Issue, IssueChange } from '@baton/protocol'
import { knownIssue } from '../../data/issues.ts'
import { none, type Option, orNull, usePicker } from '../../ui/picker.tsx'
import type { Grouping } from '../fields/arrange.ts'
import { fieldNames, type Known, useKnown } from '../fields/known.tsx'
import { editIssues, toProject, toTeam } from './edit.ts'

/** "ENG-4" or "3 issues": what was changed, for the message that says so. */
export const nameOfAll = (issues: readonly Issue[]) =>
  issues.length === 1 ? (issues[0]?.code ?? '') : `${issues.length} issues`

/** What picking a value of a field changes in an issue that stands under `from`. */
export function changeTo(
  field: string,
  value: string,
  known: Known,
  from?: string,
): ((issue: Issue) => IssueChange) | null {
  switch (field) {
    case 'status':
    case 'priority':
    case 'type':
      return () => ({ [field]: value })
    case 'assignee':
    case 'cycle':
      return () => ({ [`${field}_id`]: orNull(value) })
    case 'project':
      return (issue) => toProject(issue, orNull(value))
    case 'team': {
      const team = known.teams.find(({ key }) => key === value)
      return team ? (issue) => toTeam(issue, team.id) : null
    }
    case 'label':
      return ({ label_ids }) => ({
        label_ids: [...new Set([...label_ids.filter((id) => id !== from), ...(value === none ? [] : [value])])],
      })
    default:
      return null
  }
}

const doneWords: Record<string, (issues: string, value: string) => string> = {
  status: (issues, value) => `${issues} moved to ${value}`,
  team: (issues, value) => `${issues} moved to ${value}`,
  project: (issues, value) => `${issues}: ${value}`,
  priority: (issues, value) => `${issues}: ${value.toLowerCase()}${value === 'No priority' ? '' : ' priority'}`,
  assignee: (issues, value) => (value === 'No assignee' ? `${issues} unassigned` : `${issues} assigned to ${value}`),
}

function setField(issues: readonly Issue[], field: string, value: string, known: Known, from?: string) {
  const change = changeTo(field, value, known, from)
  if (!change) return
  const name = known.nameOf(field as 'status', value)
  const done = doneWords[field]?.(nameOfAll(issues), name) ?? `${nameOfAll(issues)}: ${name}`
  void editIssues(
    issues.map(({ id }) => id),
    change,
    done,
  )
}

/** The value that all of them have, if they agree. */
const common = (issues: readonly Issue[], read: (issue: Issue) => string | null) => {
  const values = new Set(issues.map((issue) => read(issue) ?? none))
  return values.size === 1 ? [...values] : []
}

type ChooseField = 'status' | 'priority' | 'assignee' | 'label' | 'project' | 'move'

/** Asks for a new value of a field beside an element, and gives it to all of the issues. */
export function useChoose() {
  const ask = usePicker()
  const known = useKnown()
  const one =
    (field: 'status' | 'priority' | 'assignee' | 'project', title: string, current: (issue: Issue) => string | null) =>
    (anchor: Element | null, issues: readonly Issue[]) =>
      ask(anchor, {
        title,
        options: known.options[field],
        selected: common(issues, current),
        onPick: (value) => setField(issues, field, value, known),
      })
  return {
    status: one('status', 'Change status', ({ status }) => status),
    priority: one('priority', 'Change priority', ({ priority }) => priority),
    assignee: one('assignee', 'Assign to', ({ assignee_id }) => assignee_id),
    project: one('project', 'Put in project', ({ project_id }) => project_id),
    label: (anchor: Element | null, issues: readonly Issue[]) => chooseLabels(ask, known, anchor, issues),
    move: (anchor: Element | null, issues: readonly Issue[], where?: Where) =>
      chooseMove(ask, known, anchor, issues, where),
  } satisfies Record<ChooseField, unknown>
}

type Ask = ReturnType<typeof usePicker>

function chooseLabels(ask: Ask, known: Known, anchor: Element | null, issues: readonly Issue[]) {
  const now = () => issues.map(({ id }) => knownIssue(id)).filter((issue) => issue !== undefined)
  const onAll = (id: string) => now().every(({ label_ids }) => label_ids.includes(id))
  const options = known.options.label.filter(({ value }) => value !== none)
  ask(anchor, {
    title: 'Labels',
    multiple: true,
    options,
    selected: options.map(({ value }) => value).filter(onAll),
    empty: 'No label is called that.',
    onPick: (value) => {
      const without = onAll(value)
      const ids = issues.map(({ id }) => id)
      const name = known.nameOf('label', value)
      void editIssues(
        ids,
        ({ label_ids }) => ({
          label_ids: without ? label_ids.filter((id) => id !== value) : [...new Set([...label_ids, value])],
        }),
        `${nameOfAll(issues)}: ${without ? `${name} removed` : name}`,
      )
    },
  })
}

/** The columns of a board, and the one that the issues are in. */
interface Where {
  grouping: Grouping
  from: string | undefined
}

const movedBy = ['status', 'project', 'team'] as const

/** The same as dragging, by name: to another column, a status, a project or a team. */
function chooseMove(ask: Ask, known: Known, anchor: Element | null, issues: readonly Issue[], where?: Where) {
  const column = where && where.grouping !== 'none' && where.grouping !== 'delegate' ? where.grouping : null
  const fields = [...new Set([...(column ? [column] : []), ...movedBy])]
  ask(anchor, {
    title: 'Move to',
    options: fields.flatMap((field) =>
      known.options[field]
        .filter(({ value }) => field !== 'team' || value !== none)
        .map((option): Option => ({ ...option, value: `${field}:${option.value}`, group: fieldNames[field] })),
    ),
    selected: common(issues, ({ status }) => `status:${status}`),
    onPick: (value) => {
      const at = value.indexOf(':')
      const field = value.slice(0, at)
      setField(issues, field, value.slice(at + 1), known, field === column ? where?.from : undefined)
    },
  })
}
