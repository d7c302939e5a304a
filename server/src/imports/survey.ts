import { hash } from 'node:crypto'
import { limits, programLimits } from '@baton/protocol'
import { closedLabel, plain } from './mapping.ts'
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

/** A hostile file has a problem in each of millions of rows: all are counted, and the first ones are kept. */
export class Problems {
  readonly kept: Problem[] = []
  count = 0

  push(...problems: readonly Problem[]) {
    this.count += problems.length
    for (const problem of problems) if (this.kept.length < programLimits.importProblems) this.kept.push(problem)
  }
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

/** Of all ids and names together, each with about as much for its places in memory. */
const maxCharacters = 64 * 1024 * 1024
const perValue = 64

/** Of a text that is part of a longer one, V8 keeps the longer one. It copies shorter parts itself. */
const copyOf = (text: string) => (text.length < 13 ? text : Buffer.from(text, 'utf16le').toString('utf16le'))

function copied<Item extends object>(item: Item): Item {
  const copy = { ...item } as Record<string, unknown>
  for (const name in copy) {
    const value = copy[name]
    if (typeof value === 'string') copy[name] = copyOf(value)
    else if (Array.isArray(value)) copy[name] = value.map(copyOf)
  }
  return copy as Item
}

/** Not copied, because the survey does not keep them. */
const unkept = { title: '', description: '', url: null, createdAt: null, updatedAt: null, completedAt: null, due: null }

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
  /** Issues with points and without hours. */
  points = 0
  readonly problems = new Problems()
  tooMany = false
  /** More ids and names than fit into memory. */
  tooLarge = false
  #characters = 0

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
      if (survey.tooMany || survey.tooLarge) break
    }
    if (survey.tooMany || survey.tooLarge) return survey
    survey.#complete()
    survey.#relate(references)
    return survey
  }

  /** Call for each value that stays in memory. */
  #count(text: string | null) {
    this.#characters += (text?.length ?? 0) + perValue
    this.tooLarge ||= this.#characters > maxCharacters
  }

  #keep<Item extends { id: string }>(items: Map<string, Item>, item: Item) {
    if (items.has(item.id)) return
    const kept = copied(item)
    for (const value of Object.values(kept)) if (typeof value === 'string') this.#count(value)
    items.set(kept.id, kept)
  }

  #keepIn(values: Set<string>, value: string | null) {
    if (value === null || values.has(value)) return
    this.#count(value)
    values.add(value)
  }

  #add(record: SourceRecord, references: References[]) {
    switch (record.kind) {
      case 'user':
        this.#keep(this.users, record)
        break
      case 'label':
        this.#keep(this.labels, record)
        break
      case 'project':
        this.#keep(this.projects, { ...record, description: record.description.slice(0, 2 * limits.description) })
        break
      case 'milestone':
        this.#keep(this.milestones, record)
        break
      case 'cycle':
        this.#keep(this.cycles, record)
        break
      case 'comment':
        this.comments++
        if (record.author) this.#keepIn(this.usedUsers, copyOf(record.author))
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

  #addIssue(source: SourceIssue, references: References[]) {
    const { title, createdAt } = source
    const issue = copied({ ...source, ...unkept })
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
      createdAt: createdAt === null ? null : Date.parse(createdAt),
      title: titleHash(title),
      row: issue.row,
    })
    for (const text of [issue.id, issue.key, issue.team]) this.#count(text)
    this.#positions.set(issue.id, position)
    if (issue.key && !this.#positions.has(issue.key)) this.#positions.set(issue.key, position)
    if (issue.team === null) this.teamless = true
    else {
      const team = this.teams.get(issue.team) ?? { issues: 0, prefixes: new Map() }
      this.teams.set(issue.team, team)
      team.issues++
      const prefix = codeOf(issue)?.prefix
      if (prefix && !team.prefixes.has(prefix)) this.#count(prefix)
      if (prefix) team.prefixes.set(prefix, (team.prefixes.get(prefix) ?? 0) + 1)
    }
    if (issue.status !== null && !this.statuses.has(issue.status)) this.#count(issue.status)
    if (issue.status !== null)
      this.statuses.set(issue.status, issue.statusType ?? this.statuses.get(issue.status) ?? null)
    const label = closedLabelOf(issue)
    if (label) this.closed.set(label, (this.closed.get(label) ?? new Set()).add(issue.status ?? ''))
    this.#keepIn(this.priorities, issue.priority)
    this.#keepIn(this.types, issue.type)
    for (const user of [issue.creator, issue.assignee]) if (user) this.#keepIn(this.usedUsers, user)
    for (const label of issue.labels) this.#keepIn(this.usedLabels, label)
    for (const kind of ['project', 'milestone', 'cycle'] as const) {
      const id = issue[kind]
      if (id === null) continue
      const teams = this.teamsOf[kind].get(id) ?? new Set()
      if (!teams.has(issue.team)) this.#count(id)
      this.teamsOf[kind].set(id, teams.add(issue.team))
    }
    this.related += issue.related.length
    if (issue.points !== null && issue.hours === null) this.points++
    if (issue.parent || issue.duplicateOf || issue.blocks.length > 0 || issue.blockedBy.length > 0) {
      const { parent, blocks, blockedBy, duplicateOf, row } = issue
      for (const other of [parent, duplicateOf, ...blocks, ...blockedBy]) this.#count(other)
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
  /** Of `titleHash`. */
  title: string
  row: number
}

/** Tells two titles apart, without keeping them: there can be 100,000 of any length. */
export const titleHash = (title: string) => hash('sha256', plain(title.slice(0, 200)), 'base64url').slice(0, 12)

export const closedLabelOf = ({
  status,
  statusType,
  resolution,
}: Pick<SourceIssue, 'status' | 'statusType' | 'resolution'>) =>
  closedLabel(status) ?? closedLabel(statusType) ?? closedLabel(resolution)

function reaches(above: Map<number, number>, from: number, wanted: number): boolean {
  for (let at: number | undefined = from; at !== undefined; at = above.get(at)) if (at === wanted) return true
  return false
}

/** ENG-12, or the number of a GitHub issue. Codes have up to nine digits, also those that follow. */
export function codeOf({
  id,
  key,
}: {
  id: string
  key: string | null
}): { prefix: string | null; number: number } | null {
  const code = /^([A-Za-z][A-Za-z0-9]*)-(\d{1,8})$/.exec(key ?? '')
  if (code) return { prefix: (code[1] as string).toUpperCase(), number: Number(code[2]) }
  const number = key === null ? /#(\d{1,8})$/.exec(id)?.[1] : undefined
  return number ? { prefix: null, number: Number(number) } : null
}
