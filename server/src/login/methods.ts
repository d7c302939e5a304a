import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Person, reauthRequired, type SignInMethod } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { usableMethods } from './sso-only.ts'

export interface Identity {
  id: string
  provider_id: string
  email: string | null
  created_at: string
}

/** How a user can sign in. */
export interface Methods {
  password: boolean
  passkeys: number
  identities: Identity[]
}

/** The names of the sign-in methods of the user `u` of the statement. */
export const methodNames = sql`array_remove(array[
  case when u.password_hash is not null then 'password' end,
  case when exists (select from passkeys k where k.user_id = u.id) then 'passkey' end,
  case when exists (select from sso_identities i where i.user_id = u.id) then 'sso' end], null)`

export async function methodsOf(db: Queryable, userId: string): Promise<Methods> {
  return found(
    await db.row<Methods>(sql`
      select u.password_hash is not null as password,
        (select count(*)::int from passkeys k where k.user_id = u.id) as passkeys,
        ${identitiesOf} as identities
      from users u where u.id = ${userId}`),
  )
}

/** The SSO identities of the user `u` of the statement, as on the wire. */
export const identitiesOf = sql`coalesce((
  select jsonb_agg(jsonb_build_object('id', i.id, 'provider_id', i.provider_id, 'email', i.email,
    'created_at', to_char(i.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by i.created_at, i.id)
  from sso_identities i where i.user_id = u.id), '[]'::jsonb)`

/** For routes whose body decides whether they need a recent login; the others declare it. */
export async function refuseUnlessRecent({ db, config }: Context, caller: Person) {
  if (caller.recent) return
  const user = await db.row<{ methods: SignInMethod[] }>(sql`
    select ${methodNames} as methods from users u where u.id = ${caller.id}`)
  throw reauthRequired(usableMethods(config, caller.email, user?.methods ?? []))
}

/**
 * Call before a sign-in method is removed. Locks the user, so that of two concurrent removals the second sees the first
 * (account.last-sign-in-method-race).
 */
export async function refuseLastMethod(tx: Queryable, userId: string) {
  await lockUser(tx, userId)
  const { password, passkeys, identities } = await methodsOf(tx, userId)
  if (Number(password) + passkeys + identities.length <= 1) throw new ApiError('LAST_SIGN_IN_METHOD')
}

export const lockUser = (tx: Queryable, userId: string) =>
  tx.row(sql`select 1 from users where id = ${userId} for update`)

/**
 * Locks the user of the login, and returns whether the login is still there. A reset ends it while a request of it is
 * under way; what the request would add must not let the same person in again.
 */
export async function lockWithLogin(tx: Queryable, { id, tokenHash }: Pick<Person, 'id' | 'tokenHash'>) {
  await lockUser(tx, id)
  return (await tx.row(sql`select 1 from logins where token_hash = ${tokenHash}`)) !== undefined
}

/** The same for a request that is then refused. */
export async function lockCaller(tx: Queryable, caller: Person) {
  if (!(await lockWithLogin(tx, caller))) throw new ApiError('UNAUTHORIZED')
}

export interface NewIdentity {
  userId: string
  providerId: string
  issuer: string
  subject: string
  email: string | null
}

/** Returns its id. Fails with a duplicate of `sso_identities_issuer_subject_key` if a user has it. */
export async function addIdentity(tx: Queryable, now: Date, identity: NewIdentity): Promise<string> {
  const id = newId('idn')
  await tx.run(sql`
    insert into sso_identities (id, user_id, provider_id, issuer, subject, email, created_at)
    values (${id}, ${identity.userId}, ${identity.providerId}, ${identity.issuer}, ${identity.subject},
      ${identity.email}, ${now})`)
  return id
}

/** Ends the logins that began with the identity too. 404 if the user has none with this id. */
export async function removeIdentity(
  tx: Queryable,
  userId: string,
  id: string,
): Promise<Identity & { issuer: string }> {
  await lockUser(tx, userId)
  const identity = found(
    await tx.row<Identity & { issuer: string }>(sql`
      select id, provider_id, email, created_at, issuer from sso_identities where id = ${id} and user_id = ${userId}`),
  )
  await refuseLastMethod(tx, userId)
  await tx.run(sql`delete from logins where identity_id = ${id}`)
  await tx.run(sql`delete from sso_identities where id = ${id}`)
  return identity
}

export interface NewPasskey {
  userId: string
  name: string
  credentialId: string
  publicKey: Buffer
  counter: number
  transports: string[]
}

/** Returns its id. Fails with a duplicate of `passkeys_credential_id_key` if the credential is registered. */
export async function addPasskey(tx: Queryable, now: Date, passkey: NewPasskey): Promise<string> {
  const id = newId('psk')
  await tx.run(sql`
    insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
    values (${id}, ${passkey.userId}, ${passkey.name}, ${passkey.credentialId}, ${passkey.publicKey},
      ${passkey.counter}, ${passkey.transports}, ${now})`)
  return id
}

/** 404 if the user has no passkey with this id. */
export async function removePasskey(tx: Queryable, userId: string, id: string): Promise<{ name: string }> {
  await lockUser(tx, userId)
  const passkey = found(
    await tx.row<{ name: string }>(sql`select name from passkeys where id = ${id} and user_id = ${userId}`),
  )
  await refuseLastMethod(tx, userId)
  await tx.run(sql`delete from passkeys where id = ${id}`)
  return passkey
}

/** After a passkey was used. False if its counter would decrease: the passkey was copied. */
export async function notePasskeyUse(tx: Queryable, now: Date, id: string, counter: number): Promise<boolean> {
  const updated = await tx.run(sql`
    update passkeys set counter = ${counter}, last_used_at = ${now}
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0))`)
  return updated > 0
}
