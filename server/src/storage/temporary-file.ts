import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFile {
  handle: FileHandle
  close(): Promise<void>
}

/** Without a name where the system allows it, so that nothing remains of it after a crash. */
export async function openTemporaryFile(): Promise<TemporaryFile> {
  const path = join(tmpdir(), `baton-${randomUUID()}`)
  const handle = await open(path, 'wx+', 0o600)
  const removed = await rm(path).then(
    () => true,
    () => false,
  )
  return {
    handle,
    async close() {
      await handle.close()
      if (!removed) await rm(path, { force: true })
    },
  }
}
