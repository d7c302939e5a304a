import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { endEverythingOf } from './end.ts'

/** Creates the user as which an app or an agent inside the service acts, and returns its id. */
export async function createAgentUser(
  { tx, now }: UnitOfWork,
  kind: 'deployment' | 'personal' | 'app',
  name: string,
  id = newId('usr'),
): Promise<string> {
  await tx.run(sql`
    insert into users (id, user_kind, agent_kind, display_name, created_at)
    values (${id}, 'application', ${kind}, ${name}, ${now})`)
  return id
}

export const renameUser = (tx: Queryable, id: string, name: string) =>
  tx.run(sql`update users set display_name = ${name} where id = ${id}`)

export const setTimeZone = (tx: Queryable, id: string, timeZone: string) =>
  tx.run(sql`update users set time_zone = ${timeZone} where id = ${id}`)

export const deleteUsers = (tx: Queryable, ids: readonly string[]) =>
  tx.run(sql`delete from users where id = any(${ids})`)

/**
 * Disables the accounts with these e-mails, so that nothing lets their users in: neither a password, nor a login, nor
 * the token of a program. Returns how many it disabled; those that were disabled before do not count.
 */
export async function disableAccounts({ tx, now }: UnitOfWork, emails: readonly string[]): Promise<number> {
  const disabled = await tx.rows<{ id: string }>(sql`
    update users set password_hash = null, disabled_at = ${now}
    where email = any(${emails}) and disabled_at is null returning id`)
  for (const { id } of disabled) {
    await endEverythingOf(tx, now, id)
  }
  return disabled.length
}
