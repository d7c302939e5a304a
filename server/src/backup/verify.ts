import { createReadStream } from 'node:fs'
import { filesOf } from './backup-dir.ts'
import { damagedFiles } from './files.ts'
import { BackupReader, type Header } from './format.ts'

export interface Summary {
  header: Omit<Header, 'key'> & { hasKey: boolean }
  tables: number
  rows: number
}

/** Reads the whole backup and compares every sum. Throws `BadBackup`. */
export async function verifyBackup(path: string | AsyncIterable<Buffer>): Promise<Summary> {
  const reader = new BackupReader(typeof path === 'string' ? createReadStream(path) : path)
  try {
    const { key, ...header } = await reader.header()
    for await (const _ of reader.blocks());
    const tables = Object.values(reader.footer?.tables ?? {})
    return {
      header: { ...header, hasKey: key !== undefined },
      tables: tables.length,
      rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    }
  } finally {
    await reader.close()
  }
}

/** Hashes of uploaded files that the backup lists and that are missing or damaged in `filesDir`. */
export const verifyFiles = (path: string, filesDir: string) => damagedFiles(filesOf(path), filesDir)
