import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../config.ts'

/** The generated key of an embedded service. */
export const keyFileIn = (dataDir: string) => join(dataDir, 'secret.key')

/** The key before a rotation, until the first start after it. */
const previousFileIn = (dataDir: string) => join(dataDir, 'secret.key.previous')

/** The keys of an embedded service, the current one first. */
export const readKeyFiles = (dataDir: string): [Buffer, ...Buffer[]] => {
  const previous = previousFileIn(dataDir)
  return [readKeyFile(keyFileIn(dataDir)), ...(existsSync(previous) ? [readKeyFile(previous)] : [])]
}

/** Replaces a file at once, and is durable when it returns. */
export function writeKeyFile(file: string, key: Buffer) {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${key.toString('base64')}\n`, { mode: 0o600, flush: true })
  renameSync(draft, file)
  const directory = openSync(dirname(file), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/**
 * Makes `key` the current one. The old one is kept first: a process that is killed between the two steps leaves the
 * same key twice, and after them the next start opens what either of them sealed.
 */
export function swapKeyFiles(dataDir: string, key: Buffer, onStep: (step: string) => void) {
  writeKeyFile(previousFileIn(dataDir), readKeyFile(keyFileIn(dataDir)))
  onStep('Kept the old key in secret.key.previous')
  writeKeyFile(keyFileIn(dataDir), key)
  onStep('Wrote the new key to secret.key')
}

/** Call when nothing is sealed with it any more, and nothing runs that could still seal with it. */
export const removePreviousKeyFile = (dataDir: string) => rmSync(previousFileIn(dataDir), { force: true })

export function readKeyFile(file: string): Buffer {
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length !== 32) throw new ConfigError(`BATON_SECRET_KEY: ${file} does not hold 32 bytes in base64`)
  return key
}
