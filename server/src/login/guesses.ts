import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import { counters } from '../counters.ts'
import { sha256 } from '../crypto.ts'
import { type Allowance, giveBackOne, networkOf, takeOne } from '../http/rate-limit.ts'

/** A rate limit, and the key that it counts. */
export interface Counter {
  key: string
  allowance: Allowance
}

const periodMs = limits.signInPeriodSeconds * 1000
const perAddress: Allowance = { limit: limits.signInFailuresPerAddress, periodMs }
const perEmail: Allowance = { limit: limits.signInFailuresPerEmail, periodMs }
const elsewhere: Allowance = {
  limit: limits.signInFailuresPerEmailElsewhere,
  periodMs: limits.signInElsewherePeriodSeconds * 1000,
}

// A hash, because an e-mail is personal data and can be long.
export const emailHash = (email: string) => sha256(email).toString('base64url')

/** The e-mail is counted together with the network, so that failures elsewhere do not lock out its owner. */
export const countersOf = (address: string, email: string): Counter[] => [
  { key: `sign-in address ${networkOf(address)}`, allowance: perAddress },
  { key: `sign-in e-mail ${emailHash(email)} ${networkOf(address)}`, allowance: perEmail },
]

/** Against guesses from many networks. */
export const elsewhereCounter = (email: string): Counter => ({
  key: `sign-in e-mail ${emailHash(email)} elsewhere`,
  allowance: elsewhere,
})

/** Of guesses in logins of the user. Not the counter of sign-ins elsewhere, which strangers can use up. */
export const counterInLogin = (userId: string): Counter => ({ key: `password change ${userId}`, allowance: elsewhere })

/**
 * Runs a password check within the rate limits. Each check is counted before it runs, so that concurrent guesses cannot
 * exceed the limit, and uncounted if the password is right, so that only failures count.
 */
export async function limitingGuesses(
  { db, clock }: Context,
  limitedBy: readonly Counter[],
  check: () => Promise<boolean>,
): Promise<boolean> {
  for (const { key, allowance } of limitedBy) await takeOne(db, key, allowance, clock.now())
  const matches = await check()
  if (matches) for (const { key, allowance } of limitedBy) await giveBackOne(db, key, allowance)
  else counters.loginFailures.inc()
  return matches
}
