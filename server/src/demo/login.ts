import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { passwordMatches } from '../login/passwords.ts'
import { demoDomain, demoPassword } from './content.ts'

export const demoLogin = { email: `ada@${demoDomain}`, password: demoPassword }

/**
 * The demo login, or null if it does not work: there is no demo, or its password was changed. The check is expensive
 * and its route is public, so each stored hash is checked once.
 */
export function demoLoginOf({ config, db }: Context): () => Promise<typeof demoLogin | null> {
  let checked: { hash: string; matches: Promise<boolean> } | undefined
  return async () => {
    if (!config.demo) return null
    const row = await db.row<{ hash: string }>(sql`
      select password_hash as hash from users where email = ${demoLogin.email}
        and exists (select 1 from settings where name = 'demo' and value = 'done')`)
    if (!row) return null
    if (checked?.hash !== row.hash) checked = { hash: row.hash, matches: passwordMatches(row.hash, demoLogin.password) }
    return (await checked.matches) ? demoLogin : null
  }
}
