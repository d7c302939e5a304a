import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DataDir } from '../db/data-dir.ts'
import { restore } from './restore.ts'
import { type Summary, verifyBackup } from './verify.ts'

/** Restores the backup into an embedded database beside it, compares counts and sums, and removes that again. */
export async function verifyDeeply(path: string, progress: (line: string) => void): Promise<Summary> {
  const summary = await verifyBackup(path)
  const dir = await mkdtemp(join(dirname(path), '.verify-'))
  try {
    const dataDir = await DataDir.open(dir)
    try {
      await restore({
        backup: path,
        filesDir: null,
        withoutFiles: true,
        holdDeliveries: false,
        dataDir,
        config: {
          database: { kind: 'embedded', dataDir: dir },
          files: null,
          // The rows are compared, not what is sealed in them.
          secretKey: summary.header.hasKey ? null : randomBytes(32),
        },
        progress,
        checkKey: async () => {},
        eraseListed: async () => {},
      })
    } finally {
      dataDir.close()
    }
    return summary
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
