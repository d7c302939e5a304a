import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from './clock.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { Keyring } from './crypto.ts'
import { DataDir } from './db/data-dir.ts'
import type { Db } from './db/database.ts'
import { keyFileIn, readKeyFile } from './db/key-file.ts'
import { openPostgres } from './db/open-postgres.ts'
import { checkFiles } from './files/check.ts'
import { linkUrl } from './login/links.ts'
import { signOperatorLink } from './login/operator-link.ts'
import { needsSso } from './login/sso-only.ts'
import { openStorage } from './storage-check.ts'

const usage = `Usage: npm run operate -- reset-link E-MAIL
       npm run operate -- files-check [--content]

reset-link   Prints a link with which the user of this e-mail address sets a new password. It works once, within one hour.
files-check  Compares the files in the database with those in BATON_FILES_DIR or the S3 bucket, and prints what is
             missing or left over. --content also reads every file. Stop a service on the embedded database before.

Run it with the settings of the service.`

/** Commands for the operator. Those that need no database also work while a service on the embedded one runs. */
export async function operate(args: readonly string[], env: Record<string, string | undefined>): Promise<number> {
  try {
    const [command, option, ...rest] = args
    if (command === 'reset-link' && option && rest.length === 0) {
      console.log(resetLink(readConfig(env), option.toLowerCase()))
      return 0
    }
    if (command === 'files-check' && (option ?? '--content') === '--content' && rest.length === 0) {
      return await filesCheck(readConfig(env), option !== undefined)
    }
    console.error(usage)
    return 2
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    return 1
  }
}

async function filesCheck(config: Config, content: boolean): Promise<number> {
  const { db, close } = await openDatabase(config)
  try {
    const storage = await openStorage(config, db)
    if (!storage) throw new ConfigError('BATON_FILES_DIR and BATON_S3_URL are not set: this instance stores no files')
    let problems = 0
    for await (const { key, problem } of checkFiles(db, storage, systemClock.now(), { content })) {
      problems++
      console.log(`${key}: ${problem}`)
    }
    console.log(problems === 0 ? 'All files are complete' : `${problems} problems`)
    return problems === 0 ? 0 : 1
  } finally {
    await close()
  }
}

async function openDatabase({ database }: Config): Promise<{ db: Db; close: () => Promise<void> }> {
  if (database.kind === 'postgres') {
    const db = await openPostgres(database.url, () => {}, console.error)
    return { db, close: () => db.close() }
  }
  const dataDir = await DataDir.open(database.dataDir)
  const db = await dataDir.openDatabase(console.error, ({ message }) => console.error(message))
  const close = async () => {
    await db.close()
    dataDir.close()
  }
  return { db, close }
}

function resetLink(config: Config, email: string): string {
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new ConfigError(`${email} is not an e-mail address`)
  if (needsSso(config, email)) {
    throw new ConfigError('With BATON_SSO_ONLY=1 only the account of BATON_BREAK_GLASS has a password')
  }
  const keys = new Keyring(secretKeyOf(config))
  return linkUrl(config, 'reset', signOperatorLink(keys, { email, issuedAt: systemClock.now() }))
}

function secretKeyOf({ secretKey, database }: Config): Buffer {
  if (secretKey) return secretKey
  const file = keyFileIn(resolve(database.kind === 'embedded' ? database.dataDir : '.'))
  if (existsSync(file)) return readKeyFile(file)
  throw new ConfigError(`BATON_SECRET_KEY is not set, and ${file} does not exist: run this with the service's settings`)
}
