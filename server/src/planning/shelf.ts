import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { json, none, type Sql, sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { type IdPrefix, newId } from '../ids.ts'

interface Shape {
  table: Sql
  prefix: IdPrefix
  /** Columns that the API shows, and those of them that a change can set. */
  shown: Sql
  changeable: Sql
  /** A condition on `t` for what not everybody may see. */
  visibleTo?: (caller: Actor) => Sql
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

  async create(ctx: Context, caller: Actor, values: object, db: Queryable = ctx.db): Promise<Item> {
    const { table, shown, prefix } = this.#shape
    const now = ctx.clock.now()
    const row = { ...values, id: newId(prefix), workspace_id: caller.workspaceId, created_at: now, updated_at: now }
    return found(
      await db.row<Item>(sql`
        insert into ${table} select * from jsonb_populate_record(null::${table}, ${json(row)}) returning ${shown}`),
    )
  }

  async update(ctx: Context, caller: Actor, id: string, change: object): Promise<Item> {
    const { table, shown, changeable } = this.#shape
    const row = { ...change, updated_at: ctx.clock.now() }
    return found(
      await ctx.db.row<Item>(sql`
        update ${table} t
        set (${changeable}, updated_at) = (select ${changeable}, updated_at from jsonb_populate_record(t, ${json(row)}))
        where ${this.#ofCaller(caller)} and t.id = ${id}
        returning ${shown}`),
    )
  }

  /** References to it are cleared by the database, and that is nobody's event (decisions 3). */
  async delete(ctx: Context, caller: Actor, id: string): Promise<void> {
    const { table } = this.#shape
    found(await ctx.db.row(sql`delete from ${table} t where ${this.#ofCaller(caller)} and t.id = ${id} returning 1`))
  }

  #ofCaller(caller: Actor) {
    const { visibleTo } = this.#shape
    return sql`t.workspace_id = ${caller.workspaceId} ${visibleTo ? sql`and ${visibleTo(caller)}` : none}`
  }
}
