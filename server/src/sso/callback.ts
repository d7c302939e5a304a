import { hours, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { isDuplicate } from '../db/database.ts'
import type { Anonymous, Person } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { rememberNetwork } from '../login/known-networks.ts'
import { type Device, proveLogin, startLogin } from '../login/logins.ts'
import { lockWithLogin } from '../login/methods.ts'
import { endLoginsOfIdentity, findIdentity, noteSsoSignIn } from '../login/sso-accounts.ts'
import type { Provider } from '../sso-config.ts'
import { transact } from '../unit-of-work.ts'
import { findAccount, linkTo } from './accounts.ts'
import { type Attempt, takeAttempt } from './attempts.ts'
import { type Verified, verifyCallback } from './claims.ts'
import type { Issuers } from './issuers.ts'
import { joinWorkspaces } from './join.ts'
import { isFresh, refuseOutsiders, SsoRefusal, sidOf } from './rules.ts'

interface Callback {
  providerId: string
  cookie: string | undefined
  parameters: URLSearchParams
  from: Device
}

/** Where the browser goes next, with the token of a new login if one began. */
interface End {
  path: string
  token?: string
}

/** The provider has sent the browser back. Every refusal leads to a page that explains it. */
export async function finishSso(
  ctx: Context,
  issuers: Issuers,
  caller: Anonymous | Person,
  callback: Callback,
): Promise<End> {
  const provider = issuers.provider(callback.providerId)
  let attempt: Attempt | undefined
  try {
    const state = callback.parameters.get('state')
    attempt = state && callback.cookie ? await takeAttempt(ctx, state, callback.cookie) : undefined
    if (!attempt) throw new SsoRefusal('sso_expired', 'no attempt with this state was started in this browser')
    if (attempt.providerId !== provider.id) {
      throw new SsoRefusal('sso_failed', `the attempt was started with the provider ${attempt.providerId}`)
    }
    return await finishAttempt(ctx, issuers, provider, attempt, caller, callback)
  } catch (error) {
    const refusal = asRefusal(error)
    ctx.log.warn(
      { provider: provider.id, purpose: attempt?.purpose, problem: refusal.problem, cause: refusal.message },
      'single sign-on was refused',
    )
    const page = !attempt || attempt.purpose === 'sign_in' ? '/sign-in' : '/account'
    return { path: `${page}?problem=${refusal.problem}` }
  }
}

function asRefusal(error: unknown): SsoRefusal {
  if (error instanceof SsoRefusal) return error
  if (error instanceof ApiError && error.code === 'NOT_READY') return new SsoRefusal('sso_failed', error.message)
  throw error
}

async function finishAttempt(
  ctx: Context,
  issuers: Issuers,
  provider: Provider,
  attempt: Attempt,
  caller: Anonymous | Person,
  { parameters, from }: Callback,
): Promise<End> {
  const startedBy = attempt.purpose === 'sign_in' ? null : starterOf(attempt, caller)
  const person = await verifyCallback(ctx, await issuers.issuer(provider), attempt, parameters)
  try {
    refuseOutsiders(provider, person.claims)
  } catch (error) {
    await transact(ctx, null, ({ tx }) => endLoginsOfIdentity(tx, person.issuer, person.subject))
    throw error
  }
  if (startedBy && attempt.purpose === 'reauth') await confirmIdentity(ctx, startedBy, person)
  else if (startedBy) await linkIdentity(ctx, provider, startedBy, person)
  else return { path: attempt.next, token: await signIn(ctx, provider, person, from) }
  return { path: attempt.next }
}

/** The login that started it must still be there: another person may use the browser by now. */
function starterOf({ loginHash }: Attempt, caller: Anonymous | Person): Person {
  if (caller.kind === 'person' && !caller.scopes && loginHash?.equals(caller.tokenHash)) return caller
  throw loginEnded()
}

const loginEnded = () => new SsoRefusal('sso_expired', 'the login that started it has ended')

async function signIn(ctx: Context, provider: Provider, person: Verified, from: Device): Promise<string> {
  const { userId, token } = await again(() =>
    transact(ctx, null, async (unit) => {
      const { tx, now } = unit
      const { userId, identityId } = await findAccount(ctx, unit, provider, person)
      await noteSsoSignIn(tx, userId, now)
      await joinWorkspaces(unit, provider, identityId, userId)
      const token = await startLogin(
        tx,
        {
          userId,
          method: 'sso',
          providerId: provider.id,
          identityId,
          sid: sidOf(person.claims),
          expiresAt: plus(now, hours(provider.loginHours)),
          from,
        },
        now,
      )
      if (!token)
        throw new SsoRefusal('sso_no_account', 'the account is disabled, or the identity was removed meanwhile')
      return { userId, token }
    }),
  )
  await rememberNetwork(ctx, userId, from.address)
  return token
}

const linkIdentity = (ctx: Context, provider: Provider, caller: Person, person: Verified) =>
  again(() =>
    transact(ctx, caller, async (unit) => {
      if (!(await lockWithLogin(unit.tx, caller))) throw loginEnded()
      const { identityId } = await linkTo(ctx, unit, provider, person, caller.id)
      await joinWorkspaces(unit, provider, identityId, caller.id)
    }),
  )

const confirmIdentity = (ctx: Context, caller: Person, person: Verified) =>
  transact(ctx, caller, async ({ tx, now }) => {
    const known = await findIdentity(tx, person.issuer, person.subject)
    if (known?.userId !== caller.id) throw new SsoRefusal('sso_in_use', 'the identity is not one of the caller')
    if (!isFresh(person.claims, now)) throw new SsoRefusal('sso_failed', 'auth_time is missing or older than 5 minutes')
    await proveLogin(tx, caller.tokenHash, now)
    await noteSsoSignIn(tx, caller.id, now)
  })

/** Of two first sign-ins at the same time, the second finds what the first created. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isDuplicate(error, 'users_email') || isDuplicate(error, 'sso_identities_issuer_subject_key')) return work()
    throw error
  }
}
