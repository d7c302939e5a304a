import { resealCredentials } from './a2a/credential.ts'
import { ConfigError } from './config.ts'
import { type Keyring, UnknownKeyError } from './crypto.ts'
import type { Db } from './db/database.ts'
import { insertSetting, readSetting, updateSetting } from './db/settings.ts'
import { sql } from './db/sql.ts'
import { resealSecrets } from './delivery/endpoints.ts'
import { resealConnections } from './git/connections.ts'
import { resealImports } from './imports/state.ts'
import { resealMails } from './mail/queue.ts'

const name = 'secret_key_proof'

/**
 * The first start seals a word with its key; every later start must be able to open it. So a wrong key stops the start
 * instead of failing later, when the first webhook cannot be signed.
 */
export async function checkSecretKey(db: Db, keys: Keyring): Promise<void> {
  await insertSetting(db, name, keys.seal('baton', name))
  const proof = await readSetting(db, name)
  try {
    keys.open(proof ?? '', name)
    // A previous key may have opened it; seal it again with the current one.
    await updateSetting(db, name, keys.seal('baton', name))
  } catch (error) {
    if (!(error instanceof UnknownKeyError)) throw error
    throw new ConfigError(
      'BATON_SECRET_KEY is not the key of this database; set the old key in BATON_SECRET_KEY_PREVIOUS',
    )
  }
}

/** Whether this keyring opens what the first start sealed, if there was one. Writes nothing. */
export async function keyIsRight(db: Db, keys: Keyring): Promise<boolean> {
  const proof = await readSetting(db, name)
  if (proof === undefined) return true
  try {
    keys.open(proof, name)
    return true
  } catch (error) {
    if (error instanceof UnknownKeyError) return false
    throw error
  }
}

/** Seals every value again with the current key, apart from attempts to sign in, which last minutes. */
export async function resealAll(db: Db, keys: Keyring) {
  await resealSecrets(db, keys)
  await resealCredentials(db, keys)
  await resealMails(db, keys)
  await resealConnections(db, keys)
  await resealImports(db, keys)
}

/** How many values each key seals, by its id. */
export async function countSealed(db: Db): Promise<Map<string, number>> {
  const rows = await db.rows<{ id: string; count: number }>(sql`
    select split_part(value, '.', 2) as id, count(*)::int as count from (
      select value from settings where name = ${name}
      union all select secret from endpoints
      union all select next_secret from endpoints
      union all select secret from mails
      union all select secret from git_connections
      union all select token from git_connections
      union all select credential from a2a_apps
      union all select key from imports
      union all select verifier from sso_attempts
      union all select next from sso_attempts
    ) sealed where value is not null group by 1 order by 1`)
  return new Map(rows.map(({ id, count }) => [id, count]))
}
