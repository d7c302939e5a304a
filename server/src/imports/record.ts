/**
 * What a format reads, in the words of the source: the planner maps it. References between records are ids of the
 * source. `row` is the line or item of the source that problems name. A user, label, project, milestone or cycle may be
 * repeated, with the same id, and may come after the records that refer to it.
 */
export type SourceRecord =
  | SourceUser
  | SourceLabel
  | SourceProject
  | SourceMilestone
  | SourceCycle
  | SourceIssue
  | SourceComment
  | SourceAttachment
  | SourceProblem

/** A person: found by e-mail if there is one. */
export interface SourceUser {
  kind: 'user'
  id: string
  name: string
  email: string | null
}

export interface SourceLabel {
  kind: 'label'
  id: string
  name: string
  color: string | null
}

export interface SourceProject {
  kind: 'project'
  id: string
  name: string
  description: string
}

export interface SourceMilestone {
  kind: 'milestone'
  id: string
  name: string
  project: string | null
  due: string | null
}

export interface SourceCycle {
  kind: 'cycle'
  id: string
  name: string
  team: string | null
  starts: string | null
  ends: string | null
}

export interface SourceIssue {
  kind: 'issue'
  id: string
  /** The code in the source, such as ENG-12. */
  key: string | null
  /** Its name there; null if the source has no teams. */
  team: string | null
  title: string
  /** Markdown. */
  description: string
  status: string | null
  /** Linear's category of the status: triage, backlog, unstarted, started, completed, canceled or duplicate. */
  statusType?: string | null
  /** Why it is closed, such as Jira's "Won't Do". */
  resolution?: string | null
  priority: string | null
  type: string | null
  /** Ids of labels. */
  labels: string[]
  project: string | null
  milestone: string | null
  cycle: string | null
  /** Ids or keys of issues. */
  parent: string | null
  blocks: string[]
  blockedBy: string[]
  duplicateOf: string | null
  related: string[]
  /** Ids of users. */
  creator: string | null
  assignee: string | null
  /** All of them, if the source has more than one. */
  assignees?: string[]
  hours: number | null
  points: number | null
  /** Days as 2026-12-24, times as ISO 8601. */
  due: string | null
  createdAt: string | null
  updatedAt: string | null
  completedAt: string | null
  archived: boolean
  url: string | null
  row: number
}

export interface SourceComment {
  kind: 'comment'
  id: string
  issue: string
  author: string | null
  /** Markdown. */
  text: string
  createdAt: string | null
  updatedAt: string | null
  row: number
}

export interface SourceAttachment {
  kind: 'attachment'
  id: string
  issue: string
  name: string
  url: string
  /** A link to a page of another service, not a file. */
  isLink?: boolean
  /** The address in the issue's or comment's text, if that text shows the file. */
  textUrl?: string
  /** The comment with that text; without it, the issue. */
  comment?: string
  row: number
}

/** Something that could not be read; the rest of the row is kept. */
export interface SourceProblem {
  kind: 'problem'
  row: number | null
  field: string | null
  value: string | null
  message: string
  /** How many items were skipped on purpose, such as pull requests. */
  skipped?: number
}

/** Settings of the mapping that change how bytes are read. */
export interface ReadOptions {
  /** By field of SourceIssue: the position of its column, for `csv`. */
  columns: Record<string, number>
  /** Null: not known yet; a source whose dates are ambiguous reports `dateOrderNeeded`. */
  dateOrder: 'day-month' | 'month-day' | null
}

/** What a format says about a file before it is mapped. */
export interface Described {
  /** The header of a CSV, by position; empty for JSON. */
  columns: string[]
  /** There are dates such as 3/4/2026, and no order of day and month follows from the others. */
  dateOrderNeeded: boolean
  /** The order that fits all dates, if they show one. */
  dateOrder?: ReadOptions['dateOrder']
  /** By field of SourceIssue: the column with a fitting name, for `csv`. */
  proposed?: Record<string, number>
}

/** A stored file of an import. It is opened again for each pass. */
export interface SourceFile {
  name: string
  open: () => Promise<AsyncIterable<Uint8Array>>
}
