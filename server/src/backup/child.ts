// Writes a backup of the copy of an embedded database to stdout. A process of its own, so that the service goes on
// meanwhile, and gets back all of the memory afterwards.
import { pipeline } from 'node:stream/promises'
import { Db } from '../db/database.ts'
import { openEmbedded } from '../db/embedded.ts'
import type { Job, Outcome } from './embedded-backup.ts'
import { withBackup } from './write.ts'

const answer = (outcome: Outcome) => process.send?.(outcome, () => process.disconnect())

process.once('message', async ({ dir, madeAt, key, files }: Job) => {
  try {
    const db = new Db(await openEmbedded({ dataDir: dir }))
    const description = { madeAt: new Date(madeAt), key: key === null ? null : Buffer.from(key, 'base64'), files }
    await withBackup(db, description, (backup) => pipeline(backup, process.stdout, { end: false }))
    await db.close()
    answer({ ok: true })
  } catch (error) {
    answer({ ok: false, message: (error as Error).message })
  }
})
// The service ended.
process.once('disconnect', () => process.exit())
