import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { passwordMatches } from '../login/passwords.ts'
import { demoDomain, demoPassword } from './content.ts'

export const demoLogin = { email: `ada@${demoDomain}`, password: demoPassword }

/**
 * The demo login, or null where it opens nothing: this instance made no demo, or its password was changed. Comparing a
 * password is costly and anybody may ask, so each stored hash is looked at once.
 */
export function demoLoginOf({ config, db }: Context): () => Promise<typeof demoLogin | null> {
  let seen: { hash: string; opens: Promise<boolean> } | undefined
  return async () => {
    if (!config.demo) return null
    const row = await db.row<{ hash: string }>(sql`
      select password_hash as hash from users where email = ${demoLogin.email}
        and exists (select 1 from settings where name = 'demo' and value = 'done')`)
    if (!row) return null
    if (seen?.hash !== row.hash) seen = { hash: row.hash, opens: passwordMatches(row.hash, demoLogin.password) }
    return (await seen.opens) ? demoLogin : null
  }
}
