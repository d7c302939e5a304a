import type { Program } from '@baton/protocol'
import type { Context } from '../context.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { endGrantAndTokens } from '../login/grants.ts'
import { transact } from '../unit-of-work.ts'

/**
 * Grants `g` of the person with a valid access or refresh token. A revoked grant counts until its last access token
 * expires (oauth.revoke-keeps-access-tokens).
 */
const active = (person: Person, now: Date): Sql => sql`
  g.user_id = ${person.id} and (
    exists (select from access_tokens t where t.grant_id = g.id and t.expires_at > ${now})
    or g.ended_at is null and g.expires_at > ${now} and exists (
      select from refresh_tokens r where r.grant_id = g.id and r.rotated_at is null and r.expires_at > ${now}))`

/** Programs that act for the person with a token, such as MCP clients. */
export const listPrograms = (ctx: Context, person: Person, query: PageQuery) =>
  page<Program>(
    ctx.keys,
    'programs',
    query,
    (program) => [program.id],
    (after, count) =>
      ctx.db.rows(sql`
      select g.id, c.name as client_name, jsonb_build_object('id', w.id, 'name', w.name) as workspace, g.scopes,
        g.created_at, g.last_used_at
      from grants g join oauth_clients c on c.id = g.client_id join workspaces w on w.id = g.workspace_id
      where ${active(person, ctx.clock.now())} ${after ? sql`and g.id < ${after[0]}` : none}
      order by g.id desc limit ${count}`),
  )

/** Ends all tokens of the program. Locks the grant first, so that tokens of a concurrent refresh are ended too. */
export const endProgram = (ctx: Context, person: Person, id: string): Promise<void> =>
  transact(ctx, person, async (unit) => {
    const { tx, now } = unit
    await tx.row(sql`select 1 from grants where id = ${id} and user_id = ${person.id} for update`)
    found(await tx.row(sql`select 1 from grants g where g.id = ${id} and ${active(person, now)}`))
    await endGrantAndTokens(unit, id)
  })
