import { recordAudit } from '../audit/record.ts'
import { plus } from '../clock.ts'
import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { nameOfUser } from '../login/names.ts'

const sweepAfterMs = 10 * 60_000

/** The user who receives the deliveries of the endpoint `e` now, in the shape of the app's `listener`. */
export const listenerOf = (now: Date) => sql`(
  select jsonb_build_object('user', ${nameOfUser},
    'since', to_char(l.since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from listeners l join users u on u.id = l.user_id
  where l.endpoint_id = e.id and l.lease_until > ${now}) as listener`

/** Whether the endpoint `w` has a listener. */
export const hasListener = (now: Date) =>
  sql`exists (select from listeners l where l.endpoint_id = w.id and l.lease_until > ${now})`

/** Ends the listeners that match `which`, and wakes their connections, in whichever process they are. */
export async function endListening(tx: Tx, now: Date, which: Sql) {
  const ended = await tx.rows<{ workspace_id: string; app_id: string; user_id: string; connection_id: string }>(sql`
    delete from listeners where ${which} returning workspace_id, app_id, user_id, connection_id`)
  for (const { workspace_id: workspaceId, app_id: subjectId, user_id: id } of ended) {
    await recordAudit({ tx, now, caller: { id, workspaceId } }, { action: 'app.listening_ended', subjectId })
  }
  tx.afterCommit(
    'relay',
    ended.map(({ connection_id }) => connection_id),
  )
}

/** The app's listener, if any, and whether it is still this connection. */
export async function currentListener(db: Db, appId: string, connectionId: string) {
  const row = await db.row<{ still: boolean; user: { id: string; name: string } }>(sql`
    select l.connection_id = ${connectionId} as still, ${nameOfUser} as user
    from listeners l join users u on u.id = l.user_id where l.app_id = ${appId}`)
  return row ?? { still: false, user: null }
}

/** For listeners whose process died. Waits beyond the lease: a process that lost the database may still extend it. */
export const sweepListeners = (db: Db, now: Date) =>
  db.tx((tx) => endListening(tx, now, sql`lease_until <= ${plus(now, -sweepAfterMs)}`))
