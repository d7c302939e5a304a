import type { Context } from '../context.ts'
import { readSetting } from '../db/settings.ts'
import { disableAccounts } from '../login/users.ts'
import { transact } from '../unit-of-work.ts'
import { demoDomain, people } from './content.ts'

const emails = Object.keys(people).map((key) => `${key}@${demoDomain}`)

/**
 * Disables the demo accounts of this database, if there are any: their passwords are public. Accounts whose password was
 * changed are disabled too, because any visitor could have changed it.
 */
export async function disableDemo(ctx: Context, print: (line: string) => void) {
  if ((await readSetting(ctx.db, 'demo')) === undefined) return
  const disabled = await transact(ctx, null, (unit) => disableAccounts(unit, emails))
  if (disabled > 0) {
    print(
      `Disabled ${disabled} demo accounts (@${demoDomain}) and ended their logins, because their passwords are public`,
    )
  }
}
