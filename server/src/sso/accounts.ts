import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { isReserved } from '../login/links.ts'
import { addIdentity } from '../login/methods.ts'
import { tellOwner } from '../login/security-mails.ts'
import {
  createSsoAccount,
  findIdentity,
  isInvited,
  lockAccountByEmail,
  takeOverAccount,
} from '../login/sso-accounts.ts'
import type { Provider } from '../sso-config.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { recordInWorkspacesOf } from './audit.ts'
import type { Verified } from './claims.ts'
import { emailIsVerified, emailOf, nameOf, SsoRefusal } from './rules.ts'

/** An identity and the user whom it signs in. */
export interface Account {
  identityId: string
  userId: string
}

/** Finds the account of a person at a provider, links the one with the same e-mail address, or creates one. */
export async function findAccount(
  ctx: Context,
  unit: UnitOfWork,
  provider: Provider,
  person: Verified,
): Promise<Account> {
  const { tx, now, config } = unit
  const find = async () => {
    const known = await findIdentity(tx, person.issuer, person.subject)
    return known && { identityId: known.id, userId: known.userId }
  }
  const known = await find()
  if (known) return known

  const email = emailOf(person.claims)
  if (email === null || !emailIsVerified(provider, person.claims)) {
    throw new SsoRefusal('sso_email_unverified', 'the issuer does not confirm the e-mail address')
  }
  const account = await lockAccountByEmail(tx, email)
  if (account) {
    // Another first sign-in of this person may have added it before the account was locked.
    const added = await find()
    if (added) return added
    await refuseLinking(unit, provider, person, account)
    if (!account.verified) await takeOverAccount(unit, account.id)
    return link(ctx, unit, provider, person, account.id)
  }
  const maySignUp =
    provider.signUp === 'yes' ||
    (provider.signUp === 'invited' && (config.signup === 'open' || (await isInvited(tx, email, now))))
  if (!maySignUp) throw new SsoRefusal('sso_no_account', `there is no account, and sign_up is ${provider.signUp}`)
  // By undoing the change, an account that had this address can still get it back.
  if (await isReserved(tx, email, null, now)) {
    throw new SsoRefusal('sso_link_first', 'another account had the address lately and can get it back')
  }
  const userId = await createSsoAccount(unit, email, nameOf(person.claims, email))
  return { userId, identityId: await insertIdentity(unit, provider, person, userId) }
}

/** The person who has the address at the provider gets the account, so each of these must hold. */
async function refuseLinking(
  { tx }: UnitOfWork,
  provider: Provider,
  { issuer }: Verified,
  account: { id: string; verified: boolean; disabled: boolean },
) {
  if (account.disabled) throw new SsoRefusal('sso_no_account', 'the account is disabled')
  // With allowed_domains, the domain was checked before.
  if (provider.allowedDomains.length === 0) {
    throw new SsoRefusal('sso_link_first', 'the address has an account, and the provider has no allowed_domains')
  }
  const has = await tx.row<{ identity: boolean; passkey: boolean }>(sql`
    select
      exists (
        select 1 from sso_identities
        where user_id = ${account.id} and (provider_id = ${provider.id} or issuer = ${issuer})) as identity,
      exists (select 1 from passkeys where user_id = ${account.id}) as passkey`)
  if (has?.identity) throw new SsoRefusal('sso_link_first', 'the account has another identity of this provider')
  if (account.verified && has?.passkey) throw new SsoRefusal('sso_link_first', 'the account has a passkey')
}

/** Adds an identity to the account of the signed-in user, or finds that it is there already. */
export async function linkTo(
  ctx: Context,
  unit: UnitOfWork,
  provider: Provider,
  person: Verified,
  userId: string,
): Promise<Account> {
  const known = await findIdentity(unit.tx, person.issuer, person.subject)
  if (known && known.userId !== userId) throw new SsoRefusal('sso_in_use', 'the identity belongs to another account')
  return known ? { identityId: known.id, userId } : link(ctx, unit, provider, person, userId)
}

async function link(
  { keys }: Context,
  unit: UnitOfWork,
  provider: Provider,
  person: Verified,
  userId: string,
): Promise<Account> {
  const identityId = await insertIdentity(unit, provider, person, userId)
  await recordInWorkspacesOf(unit, userId, {
    action: 'identity.linked',
    subjectId: userId,
    details: { provider: provider.id },
  })
  await tellOwner(unit, keys, userId, 'identity_added', { name: provider.name })
  return { identityId, userId }
}

const insertIdentity = ({ tx, now }: UnitOfWork, provider: Provider, person: Verified, userId: string) =>
  addIdentity(tx, now, {
    userId,
    providerId: provider.id,
    issuer: person.issuer,
    subject: person.subject,
    email: emailOf(person.claims),
  })
