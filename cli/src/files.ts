import { randomBytes } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises'

export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** For its owner's eyes only, and whole or not at all. A `directory` of its own is made, or made as private. */
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

export const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
