import type { A2aCredential } from '@baton/protocol'
import type { Keyring } from '../crypto.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { invalid } from '../http/errors.ts'

/** Headers that describe the connection or the message; an API key in one of them would break the request. */
const reserved =
  /^(?:host|cookie|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-.*|a2a-.*|accept|user-agent)$/i

export function checkCredential(credential: A2aCredential) {
  if (credential?.type === 'api_key' && reserved.test(credential.header))
    throw invalid({ 'credential.header': 'must not be a header of the connection or of the message' })
}

/** Bound to the app, so that it cannot be used for another one. */
export const sealCredential = (keys: Keyring, appId: string, credential: A2aCredential) =>
  credential && keys.seal(JSON.stringify(credential), appId)

/** The header that a sealed credential stands for. */
export function credentialHeader(keys: Keyring, appId: string, sealed: string | null): Record<string, string> {
  if (sealed === null) return {}
  const credential: A2aCredential = JSON.parse(keys.open(sealed, appId))
  if (credential?.type === 'bearer') return { authorization: `Bearer ${credential.token}` }
  return credential ? { [credential.header.toLowerCase()]: credential.value } : {}
}

/** Seals credentials again with the current key, so that the previous key can be removed after one start. */
export async function resealCredentials(db: Db, keys: Keyring) {
  const old = await db.rows<{ id: string; credential: string }>(sql`
    select app_id as id, credential from a2a_apps
    where credential is not null and credential not like ${`${keys.currentPrefix}%`}`)
  for (const { id, credential } of old) {
    const sealed = keys.seal(keys.open(credential, id), id)
    await db.run(sql`update a2a_apps set credential = ${sealed} where app_id = ${id} and credential = ${credential}`)
  }
}
