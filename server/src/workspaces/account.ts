import type { Account, AccountChange } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import { identitiesOf } from '../login/methods.ts'
import { renameUser, setTimeZone } from '../login/users.ts'
import { transact } from '../unit-of-work.ts'

export async function readAccount(db: Queryable, { id }: Person): Promise<Account> {
  return found(
    await db.row<Account>(sql`
      select u.display_name, u.email, u.email_verified_at is not null as email_verified, u.pending_email,
        u.password_hash is not null as has_password, coalesce(u.time_zone, 'UTC') as time_zone, u.mail_problem,
        ${identitiesOf} as identities, (select count(*)::int from passkeys k where k.user_id = u.id) as passkeys
      from users u where u.id = ${id}`),
  )
}

export function updateAccount(ctx: Context, caller: Person, { display_name, time_zone }: AccountChange) {
  if (time_zone !== undefined && !isTimeZone(time_zone)) {
    throw invalid({ time_zone: 'must be the name of a time zone, such as Europe/Zurich' })
  }
  return transact(ctx, caller, async ({ tx }) => {
    if (display_name !== undefined) {
      await renameUser(tx, caller.id, display_name)
      const places = await tx.rows<{ id: string }>(sql`
        select workspace_id as id from memberships where user_id = ${caller.id}`)
      sendHints(
        tx,
        places.map(({ id }) => hintOfLists(id, 'Workspace')),
      )
    }
    if (time_zone !== undefined) await setTimeZone(tx, caller.id, time_zone)
    return readAccount(tx, caller)
  })
}

/** The names of the IANA database. Newer engines also accept offsets such as +01:00, which have no summer time. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}
