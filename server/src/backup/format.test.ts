import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { emptyPlace, kind, newFolder, newService, openPlace, restoreInto } from '../../test/backup-service.ts'
import { BackupReader, BadBackup, compressed, type Header, textOf } from './format.ts'
import { writeBackupFile } from './make.ts'
import { verifyBackup } from './verify.ts'

const header: Header = {
  format: 1,
  id: 'one',
  made_at: '2026-03-02T09:00:00.000Z',
  version: '0.1.0',
  source: { database: 'embedded', version: '18' },
  migrations: ['0001_people.sql'],
  files: 'listed',
}

async function* lines(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

async function* blocks() {
  const sum = { rows: 2, sum: '7' }
  yield { name: 'a', columns: ['id', 'text'], lines: lines('1\tx\\\\.\n2\t', '\\N\n'), sum }
  yield { name: 'b', columns: ['id'], lines: lines(), sum: { rows: 0, sum: '0' } }
}

const whole = () => buffer(compressed(textOf(header, blocks())))
const verify = (bytes: Buffer) => verifyBackup(Readable.from([bytes]))

/** The same text with a correct checksum of gzip. */
const rewritten = async (change: (text: string) => string) => {
  const bytes = gzipSync(change(gunzipSync(await whole()).toString()))
  bytes[9] = 0xff
  return bytes
}

test(
  'a backup is a line of JSON, a COPY block for each table, and a line of JSON',
  verifies('backup.one-format'),
  async () => {
    const bytes = await whole()
    const text = gunzipSync(bytes).toString()
    expect(text).toContain(
      '\nCOPY a (id, text) FROM stdin;\n1\tx\\\\.\n2\t\\N\n\\.\nCOPY b (id) FROM stdin;\n\\.\n{"tables":',
    )
    const reader = new BackupReader(Readable.from([bytes]))
    expect(await reader.header()).toEqual(header)
    const found: string[] = []
    for await (const block of reader.blocks())
      for await (const chunk of block.lines) found.push(`${block.name}: ${Buffer.from(chunk)}`)
    expect(found.join('')).toBe('a: 1\tx\\\\.\n2\t\\N\n')
    const sha256 = (block: string) => createHash('sha256').update(block).digest('hex')
    expect(reader.footer?.tables).toEqual({
      a: {
        rows: 2,
        sum: expect.any(String),
        sha256: sha256('COPY a (id, text) FROM stdin;\n1\tx\\\\.\n2\t\\N\n\\.\n'),
      },
      b: { rows: 0, sum: '0', sha256: sha256('COPY b (id) FROM stdin;\n\\.\n') },
    })
  },
)

describe('a damaged backup', { timeout: 180_000 }, () => {
  test('is refused with any byte changed', verifies('backup.restore-damaged'), async () => {
    const bytes = await whole()
    await verify(bytes)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] as number) ^ 0xff
      await expect(verify(changed), `byte ${at}`).rejects.toThrow(BadBackup)
    }
  })

  test('is refused when it is cut short at any byte', verifies('backup.restore-damaged'), async () => {
    const bytes = await whole()
    for (let length = 0; length < bytes.length; length++)
      await expect(verify(bytes.subarray(0, length)), `${length} bytes`).rejects.toThrow(BadBackup)
  })

  test.each<[string, (text: string) => string]>([
    ['without its last line', (text) => text.replace(/\{"tables".*\n$/, '')],
    ['with a row too many', (text) => text.replace('2\t\\N\n', '2\t\\N\n3\t\\N\n')],
    ['with another value', (text) => text.replace('2\t\\N', '2\tx')],
    ['without a table', (text) => text.replace('COPY b (id) FROM stdin;\n\\.\n', '')],
    ['with a table twice', (text) => text.replace(/(COPY b .*\n\\\.\n)/, '$1$1')],
    ['with more after its end', (text) => `${text}more\n`],
    ['of a newer format', (text) => text.replace('"format":1', '"format":2')],
    ['that is something else', () => 'hello\n'],
  ])('is refused %s', verifies('backup.restore-damaged'), async (_, change) => {
    await expect(verify(await rewritten(change))).rejects.toThrow(BadBackup)
  })

  test('is refused with other data behind it', verifies('backup.restore-damaged'), async () => {
    await expect(verify(Buffer.concat([await whole(), Buffer.from('x')]))).rejects.toThrow(BadBackup)
    await expect(verify(Buffer.concat([await whole(), await whole()]))).rejects.toThrow(BadBackup)
  })

  test('leaves no database that starts', verifies('backup.restore-damaged'), async () => {
    const service = await newService()
    const path = join(service.backupDir, 'one.backup')
    await writeBackupFile(service, path)
    const bytes = readFileSync(path)
    const at = Math.floor(bytes.length * 0.8)
    bytes[at] = (bytes[at] as number) ^ 0xff
    const damaged = join(newFolder(), 'damaged.backup')
    writeFileSync(damaged, bytes)
    const target = await emptyPlace(kind, service.key)
    await expect(restoreInto(target, damaged)).rejects.toThrow(BadBackup)
    // From a pipe the damage is seen when a part is written already.
    const half = Math.floor(bytes.length / 2)
    const pipe = Readable.from([bytes.subarray(0, half), bytes.subarray(half)])
    await expect(restoreInto(target, pipe)).rejects.toThrow(BadBackup)
    await expect(openAndMigrate(target)).rejects.toThrow('unfinished restore')
  })
})

async function openAndMigrate(env: Record<string, string>) {
  const { migrate } = await import('../db/migrate.ts')
  const { db } = await openPlace(env)
  await migrate(db)
}
