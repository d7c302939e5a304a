import { limits } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { json, sql } from '../db/sql.ts'
import { type Day, dayOf, earlier, everyDay, later, plusDays, startOf } from './days.ts'

export interface CycleDay {
  day: Day
  scope: number
  done: number
}

export interface CycleWindow {
  id: string
  first: Day
  last: Day
}

interface Move {
  at: string
  from: string | null
  to: string | null
}

export interface CycleIssue {
  id: string
  created_at: string
  completed_at: string | null
  cycle_id: string | null
  /** Changes of its cycle, oldest first. */
  moves: Move[]
}

/** The first and the last day that a cycle is counted for. */
export const windowOf = (
  {
    id,
    starts_at,
    ends_at,
    created_at,
  }: { id: string; starts_at: string | null; ends_at: string | null; created_at: string },
  today: Day,
): CycleWindow => {
  const last = ends_at ? earlier(dayOf(ends_at), today) : today
  return { id, first: later(dayOf(starts_at ?? created_at), plusDays(last, 1 - limits.insightDays)), last }
}

/** Cycles that reached into the days since `first`. */
export async function cyclesSince(db: Queryable, workspaceId: string, first: Day, today: Day): Promise<CycleWindow[]> {
  const cycles = await db.rows<{
    id: string
    starts_at: string | null
    ends_at: string | null
    created_at: string
  }>(sql`
    select id, starts_at, ends_at, created_at from cycles
    where workspace_id = ${workspaceId} and (ends_at is null or ends_at >= ${startOf(first)})
      and coalesce(starts_at, created_at) < ${startOf(plusDays(today, 1))}
    order by id`)
  return cycles.map((cycle) => windowOf(cycle, today))
}

/** Issues that are or were in a cycle, in pages by id: one that was is found by its change from the cycle. */
export const issuesOfCycle = (db: Queryable, workspaceId: string, cycleId: string, after: string, most: number) =>
  db.rows<CycleIssue>(sql`
    select i.id, i.created_at, i.completed_at, i.cycle_id, coalesce(h.moves, '[]') as moves
    from issues i left join lateral (
      select jsonb_agg(jsonb_build_object('at', created_at, 'from', changes -> 'cycle_id' ->> 'from',
        'to', changes -> 'cycle_id' ->> 'to') order by id) as moves
      from issue_changes where issue_id = i.id and changes ? 'cycle_id'
    ) h on true
    where i.workspace_id = ${workspaceId} and not i.personal and i.id > ${after} and i.id in (
      select id from issues where cycle_id = ${cycleId}
      union select issue_id from issue_changes where changes -> 'cycle_id' ->> 'from' = ${cycleId})
    order by i.id limit ${most}`)

/** Counts issues into the days of a cycle (insight.cycle). */
export class CycleDays {
  readonly #cycle: CycleWindow
  readonly #days: CycleDay[]

  constructor(cycle: CycleWindow) {
    this.#cycle = cycle
    this.#days = everyDay(cycle.first, cycle.last).map((day) => ({ day, scope: 0, done: 0 }))
  }

  get rows(): readonly CycleDay[] {
    return this.#days
  }

  add({ created_at, completed_at, cycle_id, moves }: CycleIssue) {
    const done = completed_at ? dayOf(completed_at) : null
    const steps = [
      { day: dayOf(created_at), cycle: moves[0] ? moves[0].from : cycle_id },
      ...moves.map(({ at, to }) => ({ day: dayOf(at), cycle: to })),
    ]
    for (const row of this.#days) {
      if (steps.findLast(({ day }) => day <= row.day)?.cycle !== this.#cycle.id) continue
      row.scope++
      if (done !== null && done <= row.day) row.done++
    }
  }
}

/** Replaces the days of a cycle, unless it was deleted meanwhile. A row that stays the same is not written. */
export const writeCycleDays = (tx: Queryable, workspaceId: string, cycleId: string, rows: readonly CycleDay[]) =>
  tx.run(sql`
    with counted as materialized (
      select n.* from jsonb_to_recordset(${json(rows)}) as n (day date, scope int, done int)
    ), gone as (
      delete from cycle_days d where d.workspace_id = ${workspaceId} and d.cycle_id = ${cycleId}
        and not exists (select from counted c where c.day = d.day)
    )
    insert into cycle_days as t (workspace_id, cycle_id, day, scope, done)
    select c.workspace_id, c.id, n.day, n.scope, n.done
    from counted n join cycles c on c.workspace_id = ${workspaceId} and c.id = ${cycleId}
    on conflict (workspace_id, cycle_id, day) do update set scope = excluded.scope, done = excluded.done
    where (t.scope, t.done) is distinct from (excluded.scope, excluded.done)`)
