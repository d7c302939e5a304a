import { createHash } from 'node:crypto'
import { accountLimits, type CliCode, type NewCliLogin } from '@baton/protocol'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { transact } from '../unit-of-work.ts'
import { type Device, isValid, startLogin } from './logins.ts'
import { person } from './sign-up.ts'

/** A code for a program that runs where the browser runs: it goes to 127.0.0.1 or to the person, and nowhere else. */
export async function createCliLogin(
  { db, clock }: Context,
  caller: Person,
  { challenge, name, port }: NewCliLogin,
): Promise<CliCode> {
  const code = newSecret('')
  const expiresAt = plus(clock.now(), accountLimits.cliCodeSeconds * 1000)
  await db.run(sql`
    insert into cli_codes (code_hash, login_hash, challenge, name, expires_at)
    values (${sha256(code)}, ${caller.tokenHash}, ${challenge}, ${name}, ${expiresAt})`)
  return {
    code,
    redirect_to: port === undefined ? null : `http://127.0.0.1:${port}/?${new URLSearchParams({ code })}`,
    expires_at: expiresAt.toISOString(),
  }
}

interface Approved {
  id: string
  name: string
  email: string
  client: string
  challenge: string
  providerId: string | null
  identityId: string | null
  sid: string | null
  expiresAt: string | null
}

/** The new login has the identity and the expiry of the one that allowed it (account.cli-login-inherits). */
export async function exchangeCliCode(ctx: Context, { address }: Device, code: string, verifier: string) {
  // Thrown after the commit: a code is used up by a wrong verifier too.
  const login = await transact(ctx, null, async ({ tx, now }) => {
    await lockOwner(tx, code)
    const approved = await takeCode(tx, code, now)
    if (!approved || approved.challenge !== challengeOf(verifier)) return undefined
    const { id, client, providerId, identityId, sid } = approved
    const token = await startLogin(
      tx,
      {
        userId: id,
        method: 'cli',
        providerId,
        identityId,
        sid,
        expiresAt: approved.expiresAt ? new Date(approved.expiresAt) : null,
        from: { address, userAgent: client },
      },
      now,
    )
    return token && { user: person(approved), token }
  })
  if (!login) {
    throw new ApiError(
      'RESOURCE_NOT_FOUND',
      {},
      { message: 'The code is wrong, was used or has expired. Log in again.' },
    )
  }
  return login
}

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** In a statement of its own: what ends the login that allowed the program locks the user first, and is seen then. */
const lockOwner = (tx: Queryable, code: string) =>
  tx.row(sql`
    select 1 from cli_codes c join logins l on l.token_hash = c.login_hash join users u on u.id = l.user_id
    where c.code_hash = ${sha256(code)} for share of u`)

const takeCode = (tx: Queryable, code: string, now: Date) =>
  tx.row<Approved>(sql`
    with taken as (delete from cli_codes where code_hash = ${sha256(code)} returning *)
    select u.id, u.display_name as name, u.email, t.name as client, t.challenge, l.provider_id as "providerId",
      l.identity_id as "identityId", l.sid, l.expires_at as "expiresAt"
    from taken t join logins l on l.token_hash = t.login_hash join users u on u.id = l.user_id
    where t.expires_at > ${now} and ${isValid(now)}`)

export const sweepCliCodes = (db: Queryable, now: Date) => db.run(sql`delete from cli_codes where expires_at <= ${now}`)
