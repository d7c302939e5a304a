import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'

/** The user is using the web app, so notifications wait. Nothing else writes this: programs call the API too. */
export const setPresence = async ({ db, clock }: Context, { id }: Member): Promise<void> => {
  await db.run(sql`
    insert into presence as p (user_id, active_at) values (${id}, ${clock.now()})
    on conflict (user_id) do update set active_at = excluded.active_at where p.active_at < excluded.active_at`)
}
