import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { insertRows, json, none, type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { type IdPrefix, newId } from '../ids.ts'
import { type HintSender, hintOfLists, sendHints } from '../live/hint.ts'
import { type UnitOfWork, withoutTransaction } from '../unit-of-work.ts'

/** A transaction, or the database itself: each write is one statement. */
type Write = UnitOfWork<Actor, Queryable & HintSender>

interface Shape {
  table: Sql
  prefix: IdPrefix
  /** Columns that the API shows, and those of them that a change can set. */
  shown: Sql
  changeable: Sql
  /** A condition on `t` for what not everybody may see. */
  visibleTo?: (caller: Actor) => Sql
  /** Who alone may know of `t`, if it belongs to something personal. */
  personalOf?: Sql
}

/** Small things of one kind that are listed, created, changed and deleted, and that others refer to. */
export class Shelf<Item extends { id: string }> {
  readonly #shape: Shape

  constructor(shape: Shape) {
    this.#shape = shape
  }

  list(ctx: Context, caller: Actor, query: PageQuery, filter: Sql = none) {
    const { table, shown, prefix } = this.#shape
    return page<Item>(
      ctx.keys,
      prefix,
      query,
      (item) => [item.id],
      (after, count) =>
        ctx.db.rows(sql`
        select ${shown} from ${table} t
        where ${this.#ofCaller(caller)} ${filter} ${after ? sql`and t.id < ${after[0]}` : none}
        order by t.id desc limit ${count}`),
    )
  }

  create(ctx: Context, caller: Actor, values: object): Promise<Item> {
    return this.insert(withoutTransaction(ctx, caller), values)
  }

  /** Creates it in the transaction of the caller. */
  insert(unit: Write, values: object): Promise<Item> {
    const { table, prefix, shown } = this.#shape
    const { now, caller } = unit
    const row = { ...values, id: newId(prefix), workspace_id: caller.workspaceId, created_at: now, updated_at: now }
    return this.#write(unit, insertRows(table, sql`workspace_id, ${shown}`, [row]))
  }

  update(ctx: Context, caller: Actor, id: string, change: object): Promise<Item> {
    const { table, changeable } = this.#shape
    const unit = withoutTransaction(ctx, caller)
    const row = { ...change, updated_at: unit.now }
    return this.#write(
      unit,
      sql`
        update ${table} t
        set (${changeable}, updated_at) = (select ${changeable}, updated_at from jsonb_populate_record(t, ${json(row)}))
        where ${this.#ofCaller(caller)} and t.id = ${id}`,
    )
  }

  /** References to it are cleared by the database, and that is nobody's event (decisions 3). */
  async delete(ctx: Context, caller: Actor, id: string): Promise<void> {
    const { table } = this.#shape
    await this.#write(
      withoutTransaction(ctx, caller),
      sql`delete from ${table} t where ${this.#ofCaller(caller)} and t.id = ${id}`,
    )
  }

  /** Runs a statement on one row `t`, and tells those who watch. */
  async #write({ tx, caller }: Write, statement: Sql): Promise<Item> {
    const { shown, personalOf = sql`null` } = this.#shape
    const row = await tx.row<Item & { personalOf: string | null }>(sql`
      ${statement} returning ${shown}, ${personalOf} as "personalOf"`)
    const { personalOf: only, ...item } = found(row)
    sendHints(tx, [hintOfLists(caller.workspaceId, 'Workspace', only)])
    return item as unknown as Item
  }

  #ofCaller(caller: Actor) {
    const { visibleTo } = this.#shape
    return sql`t.workspace_id = ${caller.workspaceId} ${visibleTo ? sql`and ${visibleTo(caller)}` : none}`
  }
}
