import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { Failure } from './failure.ts'

export async function readIfExists(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Writes atomically, with mode 0600. Creates `directory` if given, and sets its mode to 0700. */
export async function writePrivate(path: string, text: string, directory?: string) {
  if (directory) {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await chmod(directory, 0o700)
  }
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
    await file.close()
    await rename(unfinished, path)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(unfinished, { force: true })
    throw error
  }
}

/** Parses a JSON object that a user wrote. */
export function parseObject(path: string, text: string): object {
  const value = parsed(path, text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new Failure(`${path} is not a JSON object.`)
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure(`${path} is not valid JSON: ${(error as Error).message}`)
  }
}

export const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
