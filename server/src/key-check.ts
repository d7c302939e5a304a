import { ConfigError } from './config.ts'
import { type Keyring, UnknownKeyError } from './crypto.ts'
import type { Db } from './db/database.ts'
import { insertSetting, readSetting, updateSetting } from './db/settings.ts'

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
