import { recordAudit } from '../audit/record.ts'
import { plus } from '../clock.ts'
import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { nameOfUser } from '../login/names.ts'

const sweepAfterMs = 10 * 60_000

/** Who receives the deliveries to the endpoint `e` now, as the app shows it. */
export const listenerOf = (now: Date) => sql`(
  select jsonb_build_object('user', ${nameOfUser},
    'since', to_char(l.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from listeners l join users u on u.id = l.user_id
  where l.endpoint_id = e.id and l.lease_until > ${now}) as listener`

/** Whoever it was is told, wherever their connection is. */
export async function endListening(tx: Tx, now: Date, which: Sql) {
  const ended = await tx.rows<{ workspace_id: string; app_id: string; user_id: string; connection_id: string }>(sql`
    delete from listeners where ${which} returning workspace_id, app_id, user_id, connection_id`)
  for (const { workspace_id: workspaceId, app_id: subjectId, user_id: id } of ended) {
    await recordAudit({ tx, now, caller: { id, workspaceId } }, { action: 'app.listening_ended', subjectId })
  }
  tx.tell(
    'relay',
    ended.map(({ connection_id }) => connection_id),
  )
}

/** Who listens to the app now: this connection still, somebody else, or nobody. */
export async function whoListens(db: Db, appId: string, connectionId: string) {
  const row = await db.row<{ still: boolean; user: { id: string; name: string } }>(sql`
    select l.connection_id = ${connectionId} as still, ${nameOfUser} as user
    from listeners l join users u on u.id = l.user_id where l.app_id = ${appId}`)
  return row ?? { still: false, user: null }
}

/** Those whose process died. One that was only cut off from the database for a while puts off its lease again. */
export const sweepListeners = (db: Db, now: Date) =>
  db.tx((tx) => endListening(tx, now, sql`lease_until <= ${plus(now, -sweepAfterMs)}`))
