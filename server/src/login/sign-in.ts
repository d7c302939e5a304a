import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { ApiError } from '../http/errors.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { countersOf, elsewhereCounter, limitingGuesses } from './guesses.ts'
import { knowsNetwork, rememberNetwork } from './known-networks.ts'
import { type Device, startLogin } from './logins.ts'
import { passwordMatches } from './passwords.ts'
import { lowerCase, person } from './sign-up.ts'
import { refuseInSsoOnly } from './sso-only.ts'

export type OnBreakGlass = (unit: UnitOfWork, user: { id: string; email: string }) => Promise<void>

export async function signIn(
  ctx: Context,
  from: Device,
  typed: { email: string; password: string },
  onBreakGlass: OnBreakGlass,
) {
  const { address } = from
  const email = lowerCase(typed.email)
  const user = await ctx.db.row<{ id: string; name: string; email: string; hash: string; known: boolean }>(sql`
    select u.id, u.display_name as name, u.email, u.password_hash as hash, ${knowsNetwork(ctx, address)} as known
    from users u where u.email = ${email}`)
  const counters = countersOf(address, email)
  // The owner's own networks are neither counted nor refused.
  if (!user?.known) counters.push(elsewhereCounter(email))
  const matches = await limitingGuesses(ctx, counters, () => passwordMatches(user?.hash, typed.password))
  if (!user || !matches) throw new ApiError('INVALID_CREDENTIALS')
  // After the password, so that a wrong one gets the same answer for every address (sso.only-break-glass).
  refuseInSsoOnly(ctx.config, user.email)
  const login = { userId: user.id, method: 'password' as const, passwordHash: user.hash, from }
  const token = ctx.config.sso.only
    ? await transact(ctx, null, async (unit) => {
        const started = await startLogin(unit.tx, login, unit.now)
        if (started) await onBreakGlass(unit, user)
        return started
      })
    : await startLogin(ctx.db, login, ctx.clock.now())
  if (!token) throw new ApiError('INVALID_CREDENTIALS')
  await rememberNetwork(ctx, user.id, address)
  return { user: person(user), token }
}
