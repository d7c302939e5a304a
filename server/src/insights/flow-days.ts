import type { Queryable } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import { type Buckets, count } from './buckets.ts'
import { columnLists } from './columns.ts'
import { type Day, dayOf, daysBetween, everyDay, plusDays, startOf } from './days.ts'

/** A row of flow_days. */
export interface FlowDay {
  day: Day
  team_id: string
  created: number
  done: number
  lead_time: Buckets | null
  cycle_time: Buckets | null
  open: number[]
}

/** The oldest age in days of each class of open issues. */
export const ageClasses = [7, 30, 90, 180, Number.POSITIVE_INFINITY]

interface Team {
  days: Map<Day, Omit<FlowDay, 'open'>>
  /** By class of age and by day from the first: by how many the open issues differ from the day before. */
  changes: number[][]
}

/** Counts issues into rows by day and team, for the days from `first` to `last`. */
export class FlowDays {
  readonly #first: Day
  readonly #last: Day
  readonly #teams = new Map<string, Team>()

  constructor(first: Day, last: Day) {
    this.#first = first
    this.#last = last
  }

  /** Issues of a team that were created on one day and are open. */
  addOpen(teamId: string, created: Day, issues: number) {
    this.#addCreated(teamId, created, issues)
    this.#addAges(teamId, created, plusDays(this.#last, 1), issues)
  }

  /** An issue that is done. `startedAt` is when it was first in progress; null if it never was. */
  addDone(teamId: string, createdAt: Date, startedAt: Date | null, completedAt: Date) {
    const [created, done] = [dayOf(createdAt), dayOf(completedAt)]
    this.#addCreated(teamId, created, 1)
    this.#addAges(teamId, created, done, 1)
    const row = this.#rowOf(teamId, done)
    if (!row) return
    row.done++
    row.lead_time = count(row.lead_time, 'lead_time', completedAt.getTime() - createdAt.getTime())
    if (startedAt) row.cycle_time = count(row.cycle_time, 'cycle_time', completedAt.getTime() - startedAt.getTime())
  }

  /** Oldest first. Days of a team without any issue are left out. */
  rows(): FlowDay[] {
    const rows = [...this.#teams].flatMap(([team_id, { days, changes }]) => {
      const open = ageClasses.map(() => 0)
      return everyDay(this.#first, this.#last).flatMap((day, index): FlowDay[] => {
        for (const [age, change] of changes.entries()) open[age] = (open[age] ?? 0) + (change[index] ?? 0)
        const row = days.get(day)
        if (!row && open.every((issues) => issues === 0)) return []
        return [{ ...(row ?? emptyDay(day, team_id)), open: [...open] }]
      })
    })
    return rows.sort((one, other) => (one.day < other.day ? -1 : one.day > other.day ? 1 : 0))
  }

  #addCreated(teamId: string, day: Day, issues: number) {
    const row = this.#rowOf(teamId, day)
    if (row) row.created += issues
  }

  /** Issues are open at the end of each day from `created` to the one before `done`, and pass through the classes. */
  #addAges(teamId: string, created: Day, done: Day, issues: number) {
    const { changes } = this.#teamOf(teamId)
    const createdAt = daysBetween(this.#first, created)
    const lastOpen = Math.min(daysBetween(this.#first, done), daysBetween(this.#first, this.#last) + 1) - 1
    let from = createdAt
    for (const [age, oldest] of ageClasses.entries()) {
      const [begin, end] = [Math.max(0, from), Math.min(lastOpen, createdAt + oldest)]
      const change = changes[age] as number[]
      if (begin <= end) {
        change[begin] = (change[begin] ?? 0) + issues
        change[end + 1] = (change[end + 1] ?? 0) - issues
      }
      from = createdAt + oldest + 1
    }
  }

  #teamOf(teamId: string): Team {
    const team = this.#teams.get(teamId) ?? { days: new Map(), changes: ageClasses.map(() => []) }
    this.#teams.set(teamId, team)
    return team
  }

  /** Undefined for a day that is not counted. */
  #rowOf(teamId: string, day: Day) {
    if (day < this.#first || day > this.#last) return undefined
    const { days } = this.#teamOf(teamId)
    const row = days.get(day) ?? emptyDay(day, teamId)
    days.set(day, row)
    return row
  }
}

const emptyDay = (day: Day, team_id: string) => ({
  day,
  team_id,
  created: 0,
  done: 0,
  lead_time: null,
  cycle_time: null,
})

/** Counts up to `rows` open issues after an id. Returns the last id, and null at the end. */
export async function countOpen(
  db: Queryable,
  workspaceId: string,
  after: string,
  rows: number,
  into: FlowDays,
): Promise<string | null> {
  const groups = await db.rows<{ team_id: string; day: Day; issues: number; last: string }>(sql`
    select coalesce(team_id, '') as team_id, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
      count(*)::int as issues, max(id) as last
    from (
      select id, team_id, created_at from issues
      where workspace_id = ${workspaceId} and completed_at is null and not personal and id > ${after}
      order by id limit ${rows}
    ) i
    group by 1, 2`)
  let [seen, last] = [0, after]
  for (const group of groups) {
    into.addOpen(group.team_id, group.day, group.issues)
    seen += group.issues
    if (group.last > last) last = group.last
  }
  return seen < rows ? null : last
}

export interface DonePosition {
  at: string
  id: string
}

export const doneSince = (day: Day): DonePosition => ({ at: startOf(day).toISOString(), id: '' })

/** Rows of history that are read for one issue, roughly. */
const changesPerIssue = 10

/**
 * Counts issues that are done, with at most about `rows` rows of issues and history. An issue that was created in
 * progress has no change to it: its first change of the status is one from it.
 */
export async function countDone(
  db: Queryable,
  workspaceId: string,
  after: DonePosition,
  rows: number,
  into: FlowDays,
): Promise<DonePosition | null> {
  const most = Math.floor(rows / changesPerIssue)
  const issues = await db.rows<{
    id: string
    team_id: string
    created_at: string
    completed_at: string
    started_at: string | null
  }>(sql`
    select i.id, coalesce(i.team_id, '') as team_id, i.created_at, i.completed_at,
      case when h.first_from = 'in_progress' then i.created_at else h.started_at end as started_at
    from (
      select id, team_id, created_at, completed_at from issues
      where workspace_id = ${workspaceId} and not personal and completed_at is not null
        and (completed_at, id) > (${after.at}::timestamptz, ${after.id})
      order by completed_at, id limit ${most}
    ) i
    left join lateral (
      select min(created_at) filter (where changes -> 'status' ->> 'to' = 'in_progress') as started_at,
        (array_agg(changes -> 'status' ->> 'from' order by id))[1] as first_from
      from issue_changes where issue_id = i.id and changes ? 'status'
    ) h on true
    order by i.completed_at, i.id`)
  for (const { team_id, created_at, completed_at, started_at } of issues) {
    into.addDone(team_id, new Date(created_at), started_at ? new Date(started_at) : null, new Date(completed_at))
  }
  const last = issues.at(-1)
  return last && issues.length === most ? { at: last.completed_at, id: last.id } : null
}

const { plain: figures, current, excluded } = columnLists(['created', 'done', 'lead_time', 'cycle_time', 'open'])

/** Replaces the rows of the days from `from` to before `until`. A row that stays the same is not written. */
export const writeFlowDays = (tx: Queryable, workspaceId: string, from: Day, until: Day, rows: readonly FlowDay[]) =>
  tx.run(sql`
    with counted as materialized (
      select * from jsonb_populate_recordset(null::flow_days, ${json(
        rows.map((row) => ({ ...row, workspace_id: workspaceId })),
      )})
    ), gone as (
      delete from flow_days d
      where d.workspace_id = ${workspaceId} and d.day >= ${from}::date and d.day < ${until}::date
        and not exists (select from counted c where c.day = d.day and c.team_id = d.team_id)
    )
    insert into flow_days as t (workspace_id, day, team_id, ${figures})
    select workspace_id, day, team_id, ${figures} from counted
    on conflict (workspace_id, day, team_id) do update set (${figures}) = (select ${excluded})
    where (${current}) is distinct from (${excluded})`)
