import type { Db } from '../db/database.ts'
import { Sql, sql } from '../db/sql.ts'
import { deleteUsers } from '../login/users.ts'
import type { Storage } from '../storage/storage.ts'
import { deleteWorkspaces } from '../workspaces/workspaces.ts'

const rowsAtOnce = 500
/** Deleting a user looks for references in tables that have no index for it. */
const usersAtOnce = 20

/** Deletes the rows and files of a restore that failed, in short transactions. */
export async function discardWorkspace(db: Db, storage: Storage, workspaceId: string) {
  const inBatches = async (table: string, before: (ids: string[]) => Promise<unknown> = async () => {}) => {
    for (;;) {
      const rows = await db.rows<{ id: string }>(
        new Sql(`select id from ${table} where workspace_id = $1 limit ${rowsAtOnce}`, [workspaceId]),
      )
      if (rows.length === 0) return
      const ids = rows.map(({ id }) => id)
      await before(ids)
      await db.run(sql`delete from ${new Sql(table, [])} where id = any(${ids})`)
    }
  }
  await inBatches('files', async (ids) => {
    for (const id of ids) await storage.remove(`files/${id}`)
  })
  await inBatches('agent_sessions', (ids) => db.run(sql`delete from ${activities} where session_id = any(${ids})`))
  await inBatches('issues')
  await inBatches('projects')
  for (;;) {
    const users = await db.rows<{ id: string }>(sql`
      select id from users where placeholder_in = ${workspaceId}
      union select user_id from inside_agents where workspace_id = ${workspaceId} limit ${usersAtOnce}`)
    if (users.length === 0) break
    await db.tx((tx) =>
      deleteUsers(
        tx,
        users.map(({ id }) => id),
      ),
    )
  }
  await db.tx((tx) => deleteWorkspaces(tx, [workspaceId]))
}

const activities = new Sql('agent_activities', [])
