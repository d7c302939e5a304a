import { programLimits } from '@baton/protocol'
import { closedLabel } from './mapping.ts'
import type {
  SourceCycle,
  SourceIssue,
  SourceLabel,
  SourceMilestone,
  SourceProject,
  SourceRecord,
  SourceUser,
} from './record.ts'

export interface Problem {
  row: number | null
  field: string | null
  value: string | null
  message: string
}

/** A relation between two issues of the source: `to` is an id or key. */
export interface Edge {
  kind: 'parent' | 'block' | 'duplicate'
  /** The child, the blocker or the duplicate, as its position among the issues. */
  from: number
  /** The parent, the blocked issue or the original: a position, or the reference that no issue of the source has. */
  to: number | string
  row: number
  field: string
}

/** What an issue refers to, kept until all issues are known. */
interface References {
  position: number
  issue: Pick<SourceIssue, 'parent' | 'blocks' | 'blockedBy' | 'duplicateOf' | 'row'>
}

interface Team {
  issues: number
  /** How many issues have a key with this prefix. */
  prefixes: Map<string, number>
}

/** What the whole source contains, without the texts: enough to plan each record alone. */
export class Survey {
  readonly teams = new Map<string, Team>()
  /** Whether an issue has no team. */
  teamless = false
  readonly statuses = new Map<string, string | null>()
  readonly priorities = new Set<string>()
  readonly types = new Set<string>()
  readonly users = new Map<string, SourceUser>()
  readonly labels = new Map<string, SourceLabel>()
  readonly projects = new Map<string, SourceProject>()
  readonly milestones = new Map<string, SourceMilestone>()
  readonly cycles = new Map<string, SourceCycle>()
  /** Teams of the issues of a project, milestone or cycle, by its id; null for issues without a team. */
  readonly teamsOf = {
    project: new Map<string, Set<string | null>>(),
    milestone: new Map(),
    cycle: new Map(),
  } as Record<'project' | 'milestone' | 'cycle', Map<string, Set<string | null>>>
  readonly usedUsers = new Set<string>()
  readonly usedLabels = new Set<string>()
  /** Statuses of issues that were closed without being done, by the label that they get. */
  readonly closed = new Map<string, Set<string>>()

  /** By position. */
  readonly issues: IssueIndex[] = []
  /** By id and by key. */
  readonly #positions = new Map<string, number>()
  edges: Edge[] = []
  comments = 0
  attachments = 0
  related = 0
  problems: Problem[] = []
  tooMany = false

  position(idOrKey: string): number | undefined {
    return this.#positions.get(idOrKey)
  }

  static async of(
    records: AsyncIterable<SourceRecord>,
    onRecord: () => Promise<void> = async () => {},
  ): Promise<Survey> {
    const survey = new Survey()
    const references: References[] = []
    for await (const record of records) {
      await onRecord()
      survey.#add(record, references)
      if (survey.tooMany) break
    }
    survey.#complete()
    survey.#relate(references)
    return survey
  }

  #add(record: SourceRecord, references: References[]) {
    switch (record.kind) {
      case 'user':
        this.users.set(record.id, record)
        break
      case 'label':
        this.labels.set(record.id, record)
        break
      case 'project':
        this.projects.set(record.id, record)
        break
      case 'milestone':
        this.milestones.set(record.id, record)
        break
      case 'cycle':
        this.cycles.set(record.id, record)
        break
      case 'comment':
        this.comments++
        if (record.author) this.usedUsers.add(record.author)
        break
      case 'attachment':
        this.attachments++
        break
      case 'problem':
        this.problems.push({ row: record.row, field: record.field, value: record.value, message: record.message })
        break
      case 'issue':
        this.#addIssue(record, references)
    }
  }

  #addIssue(issue: SourceIssue, references: References[]) {
    if (this.#positions.has(issue.id)) {
      const message = 'is in the source twice; the first one is imported'
      this.problems.push({ row: issue.row, field: 'id', value: issue.id, message })
      return
    }
    const position = this.issues.length
    if (position >= programLimits.importedIssuesTotal) {
      this.tooMany = true
      return
    }
    this.issues.push({
      id: issue.id,
      key: issue.key,
      team: issue.team,
      archived: issue.archived,
      createdAt: issue.createdAt === null ? null : Date.parse(issue.createdAt),
      row: issue.row,
    })
    this.#positions.set(issue.id, position)
    if (issue.key && !this.#positions.has(issue.key)) this.#positions.set(issue.key, position)
    if (issue.team === null) this.teamless = true
    else {
      const team = this.teams.get(issue.team) ?? { issues: 0, prefixes: new Map() }
      this.teams.set(issue.team, team)
      team.issues++
      const prefix = codeOf(issue)?.prefix
      if (prefix) team.prefixes.set(prefix, (team.prefixes.get(prefix) ?? 0) + 1)
    }
    if (issue.status !== null)
      this.statuses.set(issue.status, issue.statusType ?? this.statuses.get(issue.status) ?? null)
    const label = closedLabelOf(issue)
    if (label) this.closed.set(label, (this.closed.get(label) ?? new Set()).add(issue.status ?? ''))
    if (issue.priority !== null) this.priorities.add(issue.priority)
    if (issue.type !== null) this.types.add(issue.type)
    for (const user of [issue.creator, issue.assignee]) if (user) this.usedUsers.add(user)
    for (const label of issue.labels) this.usedLabels.add(label)
    for (const kind of ['project', 'milestone', 'cycle'] as const) {
      const id = issue[kind]
      if (id === null) continue
      const teams = this.teamsOf[kind].get(id) ?? new Set()
      this.teamsOf[kind].set(id, teams.add(issue.team))
    }
    this.related += issue.related.length
    if (issue.parent || issue.duplicateOf || issue.blocks.length > 0 || issue.blockedBy.length > 0) {
      const { parent, blocks, blockedBy, duplicateOf, row } = issue
      references.push({ position, issue: { parent, blocks, blockedBy, duplicateOf, row } })
    }
  }

  /** Some sources name an item without describing it. */
  #complete() {
    for (const id of this.usedUsers)
      if (!this.users.has(id)) this.users.set(id, { kind: 'user', id, name: id, email: null })
    for (const id of this.usedLabels)
      if (!this.labels.has(id)) this.labels.set(id, { kind: 'label', id, name: id, color: null })
    for (const id of this.teamsOf.project.keys())
      if (!this.projects.has(id)) this.projects.set(id, { kind: 'project', id, name: id, description: '' })
  }

  /** Each relation once, even if both issues name it; those that would close a circle are reported. */
  #relate(references: References[]) {
    const known = new Set<string>()
    const above: Record<'parent' | 'duplicate', Map<number, number>> = { parent: new Map(), duplicate: new Map() }
    const add = (edge: Edge, other: string) => {
      const { kind, from, to, row, field } = edge
      if (from === to) {
        this.problems.push({ row, field, value: other, message: 'is the issue itself; the relation is skipped' })
        return
      }
      if (kind === 'block') {
        if (known.has(`${from} ${to}`)) return
        if (known.has(`${to} ${from}`)) {
          this.problems.push({ row, field, value: other, message: 'blocks this issue too; one of both is skipped' })
          return
        }
        known.add(`${from} ${to}`)
      } else if (typeof to === 'number') {
        if (reaches(above[kind], to, from)) {
          const message =
            kind === 'parent'
              ? 'is a descendant of this issue; the parent is skipped'
              : 'is a duplicate of this issue; the relation is skipped'
          this.problems.push({ row, field, value: other, message })
          return
        }
        above[kind].set(from, to)
      }
      this.edges.push(edge)
    }
    for (const { position, issue } of references) {
      const { row } = issue
      const find = (reference: string) => this.#positions.get(reference) ?? reference
      if (issue.parent)
        add({ kind: 'parent', from: position, to: find(issue.parent), row, field: 'parent' }, issue.parent)
      for (const other of issue.blocks)
        add({ kind: 'block', from: position, to: find(other), row, field: 'blocks' }, other)
      for (const other of issue.blockedBy) {
        const blocker = find(other)
        // A blocker outside the source is not changed by this import.
        if (typeof blocker === 'number')
          add({ kind: 'block', from: blocker, to: position, row, field: 'blockedBy' }, other)
        else
          this.problems.push({
            row,
            field: 'blockedBy',
            value: other,
            message: 'is not in the import; the relation is skipped',
          })
      }
      if (issue.duplicateOf)
        add(
          { kind: 'duplicate', from: position, to: find(issue.duplicateOf), row, field: 'duplicateOf' },
          issue.duplicateOf,
        )
    }
  }
}

export interface IssueIndex {
  id: string
  key: string | null
  team: string | null
  archived: boolean
  /** Milliseconds; null if the source does not say it. */
  createdAt: number | null
  row: number
}

export const closedLabelOf = ({ status, statusType, resolution }: SourceIssue) =>
  closedLabel(status) ?? closedLabel(statusType) ?? closedLabel(resolution)

function reaches(above: Map<number, number>, from: number, wanted: number): boolean {
  for (let at: number | undefined = from; at !== undefined; at = above.get(at)) if (at === wanted) return true
  return false
}

/** ENG-12, or the number of a GitHub issue. */
export function codeOf({
  id,
  key,
}: {
  id: string
  key: string | null
}): { prefix: string | null; number: number } | null {
  const code = /^([A-Za-z][A-Za-z0-9]*)-(\d{1,9})$/.exec(key ?? '')
  if (code) return { prefix: (code[1] as string).toUpperCase(), number: Number(code[2]) }
  const number = key === null ? /#(\d{1,9})$/.exec(id)?.[1] : undefined
  return number ? { prefix: null, number: Number(number) } : null
}
