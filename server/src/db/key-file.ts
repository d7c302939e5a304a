import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'

/** The generated key of an embedded service. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'secret.key')

export function readKeyFile(file: string): Buffer {
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length !== 32) throw new ConfigError(`BATON_SECRET_KEY: ${file} does not hold 32 bytes in base64`)
  return key
}
