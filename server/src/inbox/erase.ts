import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Deletes the inbox of an erased person in all workspaces, with their settings. Returns the number of entries. */
export async function deleteInboxOf(tx: Tx, userId: string): Promise<number> {
  const entries = await tx.run(sql`delete from inbox_entries where user_id = ${userId}`)
  await tx.run(sql`delete from inbox_threads where user_id = ${userId}`)
  await tx.run(sql`delete from notification_settings where user_id = ${userId}`)
  await tx.run(sql`delete from mail_due where user_id = ${userId}`)
  await tx.run(sql`delete from presence where user_id = ${userId}`)
  return entries
}
