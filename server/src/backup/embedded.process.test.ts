import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import {
  addWorkspaces,
  comparable,
  emptyPlace,
  footerIn,
  headerIn,
  made,
  newService,
  openPlace,
  restoreInto,
  sums,
  textIn,
} from '../../test/backup-service.ts'
import { ConfigError } from '../config.ts'
import { verifyDeeply } from './verify-deep.ts'

// The other tests of backups are in backup.test.ts, and need not create an embedded database.
describe.skipIf(process.env.DATABASE_URL)('embedded backups', { timeout: 300_000 }, () => {
  test('have the one format and the key, restore with it into another embedded database, and ask for it without', {
    ...verifies('backup.one-format', 'backup.key-embedded', 'backup.verify-deep'),
  }, async () => {
    const source = await newService()
    await addWorkspaces(source.db, 50)
    const key = source.key.toString('base64')
    const withoutKey = await made(source, 'one.backup', { withoutKey: true })
    expect(textIn(withoutKey)).not.toContain(key)
    const other = await emptyPlace('embedded')
    await expect(restoreInto(other, withoutKey)).rejects.toThrow('set BATON_SECRET_KEY')
    expect(readdirSync(other.BATON_DATA_DIR as string)).toEqual([])
    await restoreInto({ ...other, BATON_SECRET_KEY: key }, withoutKey)
    expect(existsSync(join(other.BATON_DATA_DIR as string, 'secret.key'))).toBe(false)

    // A deep verification leaves nothing behind.
    const before = readdirSync(source.backupDir)
    const rows = Object.values(await sums(source.db)).reduce((total, table) => total + table.rows, 0)
    expect(await verifyDeeply(withoutKey, () => {})).toMatchObject({ rows })
    expect(readdirSync(source.backupDir)).toEqual(before)

    // So many that the table is read in two parts.
    await addWorkspaces(source.db, 12_000)
    const withKey = await made(source, 'two.backup')
    expect(headerIn(withKey)).toMatchObject({ format: 1, source: { database: 'embedded' }, key })
    const { tables } = footerIn(withKey)
    expect(textIn(withKey).match(/^COPY \w+ \(.+\) FROM stdin;$/gm)?.length).toBe(Object.keys(tables).length)
    const target = await emptyPlace('embedded')
    await restoreInto(target, withKey)
    expect(readFileSync(join(target.BATON_DATA_DIR as string, 'secret.key'), 'utf8').trim()).toBe(key)
    const { db } = await openPlace(target)
    expect(comparable(await sums(db))).toEqual(comparable(await sums(source.db)))
  })

  test('a backup without room for its copy says how much it needs, and the service goes on', {
    ...verifies('backup.needs-room'),
  }, async () => {
    const source = await newService()
    const noRoom = made(source, 'one.backup', { freeBytes: async () => 1_000_000 })
    await expect(noRoom).rejects.toThrow(ConfigError)
    await expect(noRoom).rejects.toThrow(/needs \d{8,} bytes of free disk/)
    expect(readdirSync(source.backupDir)).toEqual([])
    expect(readdirSync(source.env.BATON_DATA_DIR as string)).not.toContain('db.backup-copy')
    expect(await addWorkspaces(source.db, 1)).toBe(1)
    await made(source)
  })
})
