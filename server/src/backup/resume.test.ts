import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { addWorkspaces, emptyPlace, kind, newService, openPlace } from '../../test/backup-service.ts'
import { Sql } from '../db/sql.ts'
import { BackupReader } from './format.ts'
import { beginLoad, differing, endLoad, joinTables, loadBlock, type Progress, progressOf, readState } from './load.ts'
import { writeBackupFile } from './make.ts'

async function* cutOff(lines: AsyncIterable<Uint8Array>) {
  yield* lines
  throw new Error('interrupted')
}

test('a load that is interrupted in any table begins that table again, and no other', {
  ...verifies('backup.restore-resumes'),
  timeout: 180_000,
}, async () => {
  const service = await newService()
  await addWorkspaces(service.db, 20)
  const { file } = await writeBackupFile(service, join(service.backupDir, 'one.backup'))
  const { db } = await openPlace(await emptyPlace(kind, service.key))
  const read = async () => {
    const reader = new BackupReader(createReadStream(file))
    return { reader, header: await reader.header() }
  }
  const [interrupted, again, whole] = [await read(), await read(), await read()]
  const job = { what: 'restore' as const, id: again.header.id, migrations: again.header.migrations }
  await beginLoad(db, job)
  const rows = async (name: string) => (await db.rows(new Sql(`select 1 from public.${name}`, []))).length
  const blocks = interrupted.reader.blocks()
  const filled: string[] = []
  for await (const block of again.reader.blocks()) {
    const { name, columns, lines } = (await blocks.next()).value as typeof block
    await expect(loadBlock(db, { name, columns, lines: cutOff(lines) }, null)).rejects.toThrow('interrupted')
    expect([name, await rows(name), await readState(db, progressOf(name))]).toEqual([block.name, 0, undefined])
    expect(await beginLoad(db, job)).toBe('prepared')
    await loadBlock(db, block, null)
    expect(await readState<Progress>(db, progressOf(name))).toEqual({ place: null, done: true })
    if ((await rows(name)) > 0) filled.push(name)
  }
  expect(filled).toContain('workspaces')
  // The command reads all of the backup again: what is there is not loaded a second time.
  for await (const block of whole.reader.blocks()) await loadBlock(db, block, null)
  expect(await differing(db, whole.reader.footer?.tables ?? {})).toEqual([])
  await joinTables(db)
  await endLoad(db)
  expect(await rows('workspaces')).toBe(
    await service.db.rows(new Sql('select 1 from workspaces', [])).then((all) => all.length),
  )
  for (const { reader } of [interrupted, again, whole]) await reader.close()
})
