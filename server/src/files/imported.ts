import { Readable } from 'node:stream'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Storage } from '../storage/storage.ts'
import { type LinkTarget, linkFiles } from './links.ts'
import { type MediaType, TypeDetector } from './media-type.ts'
import { cleanName } from './name.ts'
import { keyOf } from './store.ts'

/** What is known about bytes once they are stored. */
export interface StoredBytes {
  sha256: Buffer
  type: MediaType
}

interface ImportedFile {
  id: string
  workspaceId: string
  name: string
  bytes: number
  stored: StoredBytes
  target: LinkTarget
}

/** Copies bytes of an import to the key of a file. A repeated call writes them again. */
export async function copyImportedFile(
  storage: Storage,
  id: string,
  from: string,
  bytes: number,
): Promise<StoredBytes> {
  const type = new TypeDetector()
  const body = await storage.read(from)
  const seen = async function* () {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      type.push(chunk)
      yield chunk
    }
  }
  await storage.remove(keyOf(id))
  const { sha256 } = await storage.put(keyOf(id), Readable.from(seen()), bytes)
  return { sha256, type: type.result() }
}

/** The bytes are stored already, so that a file that exists has its bytes. */
export async function insertImportedFile(tx: Tx, now: Date, file: ImportedFile) {
  const { id, workspaceId, name, bytes, stored, target } = file
  const { media_type, inline, width, height } = stored.type
  await tx.run(sql`
    insert into files (id, workspace_id, name, bytes, media_type, inline, width, height, sha256, state, created_at,
      unlinked_at)
    values (${id}, ${workspaceId}, ${cleanName(name)}, ${bytes}, ${media_type}, ${inline}, ${width}, ${height},
      ${stored.sha256}, 'ready', ${now}, ${now})`)
  await linkFiles(tx, { workspaceId, now }, [[target, [id]]])
}
