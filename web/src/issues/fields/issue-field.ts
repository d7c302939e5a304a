import type { Issue, IssueChange } from '@baton/protocol'
import type { Option } from '../../ui/picker.tsx'
import type { Directory } from './directory.ts'
import type { Field, Values } from './field.tsx'

/** The object whose fields are read: an issue, or the draft of one. */
export type IssueSubject = Pick<
  Issue,
  | 'status'
  | 'priority'
  | 'type'
  | 'team_id'
  | 'assignee_id'
  | 'delegate_id'
  | 'project_id'
  | 'milestone_id'
  | 'cycle_id'
  | 'label_ids'
  | 'time_estimate'
  | 'due_date'
  | 'personal'
> &
  Partial<Pick<Issue, keyof IssueChange | 'code' | 'reporter_id'>>

type Base = Field<IssueSubject, IssueChange>

/** What a filter has beyond the values of its field. */
interface AsFilter {
  /** Label in filters, such as "Label is bug", if it differs from the label of the field. */
  filterLabel?: string
  /** Converts a value to its form in the URL, and back. The URL names teams by their keys. */
  toUrl?: (value: string, directory: Directory) => string
  fromUrl?: (value: string, directory: Directory) => string
  /** The values by which it is filtered, if they differ from those shown. */
  filterRead?: (issue: Issue) => string[]
  /** A filter by conditions instead of values, such as "before 2026-12-24". */
  conditions?: Conditions
}

export interface Conditions {
  options: Option[]
  labelOf: (condition: string) => string
  matches: (issue: Issue, condition: string) => boolean
  /** Options for typed text, such as dates. */
  search: (query: string) => Promise<Option[]>
}

/** Issues are filtered by it. Those that are not fields of a form have no `key` and `change`. */
export interface IssueFilter
  extends Values<Issue>,
    AsFilter,
    Partial<Pick<Field<IssueSubject, IssueChange>, 'key' | 'change'>> {}

export interface IssueField extends Base, AsFilter {
  /** Where it appears, each with its position there. */
  at: {
    /** Properties of the issue page, and their commands. */
    panel?: number
    /** The form for a new issue. */
    form?: number
    filter?: number
    /** Headings of the list and columns of the board. */
    group?: number
    /** The bar and the keys for selected issues. */
    bulk?: number
  }
  /** Title of the command and menu that change selected issues. */
  action?: string
  /** Order of headings or columns, all of which a board shows. Without it they are ordered by name. */
  groupOrder?: (board: boolean) => readonly string[]
  /** Changed by delegating the issue, which has its own menu and waits for the server. */
  delegates?: true
  /** Differences in the form for a new issue. */
  form?: Partial<Base>
  /** Continues "Priya" in the history: "moved it to QA". */
  history: (change: HistoryChange, name: (value: unknown) => string) => string | string[]
}

export interface HistoryChange {
  from: unknown
  to: unknown
}

const idsIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** History of a list of ids: the added and the removed ones. */
export function listHistory(added: string, removed: string) {
  return ({ from, to }: HistoryChange, name: (value: unknown) => string): string[] => {
    const [before, after] = [idsIn(from), idsIn(to)]
    const gained = after.filter((id) => !before.includes(id)).map(name)
    const lost = before.filter((id) => !after.includes(id)).map(name)
    return [
      ...(gained.length > 0 ? [`${added} ${gained.join(', ')}`] : []),
      ...(lost.length > 0 ? [`${removed} ${lost.join(', ')}`] : []),
    ]
  }
}
