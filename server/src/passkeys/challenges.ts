import { minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'

const lifetimeMs = minutes(5)

/** What a challenge is for: to register a passkey of this user, or to use any passkey. */
export type Purpose = { purpose: 'register'; userId: string } | { purpose: 'use' }

export async function newChallenge({ db, clock }: Context, of: Purpose): Promise<string> {
  const challenge = newSecret('')
  await db.run(sql`
    insert into passkey_challenges (challenge_hash, user_id, purpose, expires_at)
    values (${sha256(challenge)}, ${of.purpose === 'register' ? of.userId : null}, ${of.purpose},
      ${plus(clock.now(), lifetimeMs)})`)
  return challenge
}

/** One DELETE uses the challenge up, whether the rest of the response is right or not. */
export async function takeChallenge({ db, clock }: Context, of: Purpose, challenge: string): Promise<boolean> {
  const taken = await db.run(sql`
    delete from passkey_challenges
    where challenge_hash = ${sha256(challenge)} and purpose = ${of.purpose}
      and user_id is not distinct from ${of.purpose === 'register' ? of.userId : null}::text
      and expires_at > ${clock.now()}`)
  return taken > 0
}

/** The challenge that the browser signed, from its clientDataJSON. */
export function challengeIn(clientDataJson: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8')) as Record<
      string,
      unknown
    >
    return typeof challenge === 'string' ? challenge : ''
  } catch {
    return ''
  }
}

export const sweepPasskeyChallenges = (db: Queryable, now: Date) =>
  db.run(sql`delete from passkey_challenges where expires_at < ${now}`)

export const deleteChallengesOf = (tx: Queryable, userId: string) =>
  tx.run(sql`delete from passkey_challenges where user_id = ${userId}`)
