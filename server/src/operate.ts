import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from './clock.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { Keyring } from './crypto.ts'
import { keyFileIn, readKeyFile } from './db/key-file.ts'
import { linkUrl } from './login/links.ts'
import { signOperatorLink } from './login/operator-link.ts'
import { needsSso } from './login/sso-only.ts'

const usage = `Usage: npm run operate -- reset-link E-MAIL

Prints a link with which the user of this e-mail address sets a new password. It works once, within one hour.
Run it with the settings of the service: it reads BATON_SECRET_KEY, or the key in BATON_DATA_DIR.`

/** Commands for the operator that need no database: the embedded one is locked while the service runs. */
export function operate(args: readonly string[], env: Record<string, string | undefined>): number {
  try {
    const [command, email, ...rest] = args
    if (command !== 'reset-link' || !email || rest.length > 0) {
      console.error(usage)
      return 2
    }
    console.log(resetLink(readConfig(env), email.toLowerCase()))
    return 0
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    return 1
  }
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
