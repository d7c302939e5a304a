import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { insertRows, json, none, type Sql, sql } from '../db/sql.ts'
import { type Actor, limitedTo } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { type IdPrefix, newId } from '../ids.ts'
import { type HintSender, hintOfLists, sendHints } from '../live/hint.ts'
import { type UnitOfWork, withoutTransaction } from '../unit-of-work.ts'

/** With a transaction, or with the database for a write that is a single statement. */
type WriteUnit = UnitOfWork<Actor, Queryable & HintSender>

interface Definition {
  table: Sql
  prefix: IdPrefix
  /** Columns that the API returns. */
  columns: Sql
  /** Columns that an update can set. */
  changeable: Sql
  /** Condition on the row `t`, if not all members may see all rows. */
  visibleTo?: (caller: Actor) => Sql
  /**
   * For a resource of the whole workspace: what an app may do only while it covers all teams, because it affects the
   * items of all of them (app.label-change-needs-all-teams, app.initiative-needs-all-teams).
   */
  needsAllTeams?: 'to change' | 'to create or change'
  /** Id of the only user who may see the row `t`, if it is personal. */
  personalOf?: Sql
}

/** A resource with only list, create, update and delete: labels, milestones, cycles, initiatives. */
export class SimpleResource<Item extends { id: string }> {
  readonly #definition: Definition

  constructor(definition: Definition) {
    this.#definition = definition
  }

  list(ctx: Context, caller: Actor, query: PageQuery, filter: Sql = none) {
    const { table, columns, prefix } = this.#definition
    return page<Item>(
      ctx.keys,
      prefix,
      query,
      (item) => [item.id],
      (after, count) =>
        ctx.db.rows(sql`
        select ${columns} from ${table} t
        where ${this.#accessibleTo(caller)} ${filter} ${after ? sql`and t.id < ${after[0]}` : none}
        order by t.id desc limit ${count}`),
    )
  }

  /** 404 for a row that the list does not show to this caller. */
  async read(ctx: Context, caller: Actor, id: string): Promise<Item> {
    const { table, columns } = this.#definition
    const row = await ctx.db.row<Item>(sql`
      select ${columns} from ${table} t where ${this.#accessibleTo(caller)} and t.id = ${id}`)
    return found(row)
  }

  create(ctx: Context, caller: Actor, values: object): Promise<Item> {
    return this.insert(withoutTransaction(ctx, caller), values)
  }

  /** Like `create`, in an existing transaction. */
  insert(unit: WriteUnit, values: object): Promise<Item> {
    const { table, prefix, columns, needsAllTeams } = this.#definition
    const { now, caller } = unit
    if (needsAllTeams === 'to create or change') mustCoverAllTeams(caller)
    const row = { ...values, id: newId(prefix), workspace_id: caller.workspaceId, created_at: now, updated_at: now }
    return this.#write(unit, insertRows(table, sql`workspace_id, ${columns}`, [row]))
  }

  update(ctx: Context, caller: Actor, id: string, change: object): Promise<Item> {
    const { table, changeable, needsAllTeams } = this.#definition
    if (needsAllTeams) mustCoverAllTeams(caller)
    const unit = withoutTransaction(ctx, caller)
    const row = { ...change, updated_at: unit.now }
    return this.#write(
      unit,
      sql`
        update ${table} t
        set (${changeable}, updated_at) = (select ${changeable}, updated_at from jsonb_populate_record(t, ${json(row)}))
        where ${this.#accessibleTo(caller)} and t.id = ${id}`,
    )
  }

  /** The database clears references to the row, without events (issue.reference-deletion-emits-nothing). */
  delete(ctx: Context, caller: Actor, id: string): Promise<void> {
    return this.remove(withoutTransaction(ctx, caller), id)
  }

  /** Like `delete`, in an existing transaction. */
  async remove(unit: WriteUnit, id: string): Promise<void> {
    const { table, needsAllTeams } = this.#definition
    if (needsAllTeams) mustCoverAllTeams(unit.caller)
    await this.#write(unit, sql`delete from ${table} t where ${this.#accessibleTo(unit.caller)} and t.id = ${id}`)
  }

  /** Runs a statement that writes one row `t`, and sends a hint. */
  async #write({ tx, caller }: WriteUnit, statement: Sql): Promise<Item> {
    const { columns, personalOf = sql`null` } = this.#definition
    const row = await tx.row<Item & { personalOf: string | null }>(sql`
      ${statement} returning ${columns}, ${personalOf} as "personalOf"`)
    const { personalOf: only, ...item } = found(row)
    sendHints(tx, [hintOfLists(caller.workspaceId, 'Workspace', only)])
    return item as unknown as Item
  }

  #accessibleTo(caller: Actor) {
    const { visibleTo } = this.#definition
    return sql`t.workspace_id = ${caller.workspaceId} ${visibleTo ? sql`and ${visibleTo(caller)}` : none}`
  }
}

function mustCoverAllTeams(caller: Actor) {
  if (limitedTo(caller) === null) return
  const message =
    caller.kind === 'app'
      ? 'Only an app that is installed for all teams can do this.'
      : 'Only a token for all teams can do this.'
  throw new ApiError('TEAM_ACCESS_DENIED', {}, { message })
}
