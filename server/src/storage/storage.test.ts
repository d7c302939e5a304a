import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished } from 'vitest'
import { contentAs, png, upload } from '../../test/files.ts'
import { test, verifies } from '../../test/harness.ts'
import { S3Server } from '../../test/s3-server.ts'
import { ConfigError, readConfig } from '../config.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { openStorage } from '../storage-check.ts'
import { DiskStorage } from './disk.ts'
import { S3Storage } from './s3.ts'
import { NoSuchKey, type Storage, StorageUnavailable, WrongLength } from './storage.ts'

function newDirectory() {
  const dir = mkdtempSync(join(tmpdir(), 'baton-storage-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function newBucket(patienceMs = 5000) {
  const server = await S3Server.start()
  const { files } = readConfig(server.env)
  if (files?.kind !== 's3') throw new Error('no bucket')
  const storage = new S3Storage(files, patienceMs)
  onTestFinished(() => storage.close())
  return { server, storage }
}

const kinds: [string, () => Promise<Storage>][] = [
  ['a directory', async () => new DiskStorage(newDirectory())],
  ['a bucket', async () => (await newBucket()).storage],
]

describe.each(kinds)('%s', (_, open) => {
  const text = (value: string) => Readable.from([Buffer.from(value)])
  const keys = async (storage: Storage, prefix: string) => {
    const found: string[] = []
    for await (const { key, bytes } of storage.list(prefix)) found.push(`${key} ${bytes}`)
    return found.sort()
  }

  test('returns what was stored, lists and removes it', async () => {
    const storage = await open()
    const bytes = Buffer.alloc(200_000, 'abc')
    const { sha256 } = await storage.put(
      'files/fil_1',
      Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]),
      bytes.length,
    )
    expect(sha256.length).toBe(32)
    expect((await buffer(await storage.read('files/fil_1'))).equals(bytes)).toBe(true)
    const part = await storage.read('files/fil_1', { start: 3, end: 5 })
    expect((await buffer(part)).toString()).toBe('abc')
    for (const key of ['files/fil_2', 'files/fil_3', 'imports/imp_1/0', 'imports/imp_1/1']) {
      await storage.put(key, text('hello'), 5)
    }
    await storage.put('files/empty', Readable.from([]), 0)
    expect(await keys(storage, 'files/')).toEqual([
      'files/empty 0',
      'files/fil_1 200000',
      'files/fil_2 5',
      'files/fil_3 5',
    ])
    expect(await keys(storage, 'imports/imp_1/')).toEqual(['imports/imp_1/0 5', 'imports/imp_1/1 5'])
    expect(await keys(storage, 'imports/')).toHaveLength(2)
    expect(await keys(storage, 'exports/')).toEqual([])
    for (const key of ['imports/imp_1/0', 'imports/imp_1/1', 'files/fil_1', 'files/fil_1', 'files/none']) {
      await storage.remove(key)
    }
    expect(await keys(storage, 'imports/')).toEqual([])
    await expect(storage.read('files/fil_1')).rejects.toBeInstanceOf(NoSuchKey)
  })

  test('keeps nothing of a body that fails or has another length', async () => {
    const storage = await open()
    await expect(storage.put('files/a', text('hello'), 4)).rejects.toBeInstanceOf(WrongLength)
    await expect(storage.put('files/a', text('hello'), 6)).rejects.toBeInstanceOf(WrongLength)
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('he')
        throw new Error('gone')
      })(),
    )
    await expect(storage.put('files/a', broken, 5)).rejects.toThrow('gone')
    expect(await keys(storage, 'files/')).toEqual([])
    await expect(storage.read('files/a')).rejects.toBeInstanceOf(NoSuchKey)
  })

  test('refuses keys that could leave it', async () => {
    const storage = await open()
    for (const key of ['../a', 'files/../../a', '/etc/passwd', 'files//a', 'files/.part', 'a b', '', 'files/a?x']) {
      await expect(storage.put(key, text('x'), 1)).rejects.toThrow('not a key')
      await expect(storage.read(key)).rejects.toThrow('not a key')
      await expect(storage.remove(key)).rejects.toThrow('not a key')
    }
  })
})

test('a directory lists unfinished files, and keeps none of a removed key', async () => {
  const dir = newDirectory()
  const storage = new DiskStorage(dir)
  await storage.put('files/a', Readable.from([Buffer.from('x')]), 1)
  for (const name of ['.a.part', '.b.part', '.marker']) await writeFile(join(dir, 'files', name), 'half')
  const found = []
  for await (const { key, bytes } of storage.list('files/')) found.push(`${key} ${bytes}`)
  expect(found.sort()).toEqual(['files/a 1', 'files/b 4'])
  await storage.remove('files/b')
  for (const name of ['.a.part', '.marker']) rmSync(join(dir, 'files', name))
  expect(readdirSync(join(dir, 'files'))).toEqual(['a'])
})

test(
  'files are stored in S3 as on disk',
  verifies('file.upload-and-read', 'file.s3-signature'),
  async ({ startApp }) => {
    const server = await S3Server.start()
    const app = await startApp(server.env)
    const { owner } = await app.workspace()
    const bytes = Buffer.concat([png(), Buffer.alloc(100_000, 3)])
    const { status, body } = await upload(owner, bytes, 'door.png')
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'door.png', bytes: bytes.length, media_type: 'image/png' })
    expect([...server.objects.keys()]).toEqual([`files/${body.id}`])
    const read = await contentAs(app, owner, body.id)
    // No redirect: the bucket stays private.
    expect(read.status).toBe(200)
    expect(read.bytes.equals(bytes)).toBe(true)
    const part = await contentAs(app, owner, body.id, { range: 'bytes=0-7' })
    expect([part.status, part.bytes.equals(bytes.subarray(0, 8))]).toEqual([206, true])
    await owner.delete(`/files/${body.id}`)
    app.clock.advance({ hours: 24 })
    await sweep(app.ctx)
    expect(server.objects.size).toBe(0)
    expect(server.requests).toBeGreaterThan(3)
    expect(server.refused).toEqual([])
  },
)

test('a service whose S3 is down still serves everything else', verifies('file.s3-down'), async ({ startApp }) => {
  const server = await S3Server.start()
  const app = await startApp(server.env)
  const { owner } = await app.workspace()
  const { body: file } = await upload(owner, png())
  await owner.delete(`/files/${file.id}`)
  for (const state of ['error', 'broken'] as const) {
    server.state = state
    expect(await upload(owner, png())).toMatchObject({ status: 503, body: { code: 'NOT_READY' } })
    expect((await owner.post('/issues', { title: 'One' })).status).toBe(201)
    app.clock.advance({ hours: 24 })
    await sweep(app.ctx)
    const left = await app.ctx.db.rows<{ id: string; state: string }>(sql`select id, state from files order by id`)
    expect(left).toContainEqual({ id: file.id, state: 'deleting' })
    expect(left.every((row) => row.state === 'deleting')).toBe(true)
  }
  server.state = 'up'
  await sweep(app.ctx)
  expect(await app.ctx.db.rows(sql`select 1 from files`)).toEqual([])
  expect(server.objects.size).toBe(0)
  expect((await upload(owner, png())).status).toBe(201)
})

test('an S3 that never answers is given up', async () => {
  const { server, storage } = await newBucket(200)
  server.state = 'silent'
  await expect(storage.put('files/a', Readable.from([Buffer.from('x')]), 1)).rejects.toBeInstanceOf(StorageUnavailable)
  await expect(storage.read('files/a')).rejects.toBeInstanceOf(StorageUnavailable)
  await expect(storage.remove('files/a')).rejects.toBeInstanceOf(StorageUnavailable)
})

describe('the directory', () => {
  const openAt = (path: string, db: Parameters<typeof openStorage>[1]) =>
    openStorage({ files: { kind: 'directory', path } }, db)

  test('must be that of the instance', verifies('file.directory-shared'), async ({ startApp }) => {
    const [one, other] = [await startApp(), await startApp()]
    const [dir, elsewhere] = [one, other].map(({ ctx }) =>
      ctx.config.files?.kind === 'directory' ? ctx.config.files.path : '',
    )
    await expect(openAt(dir as string, one.ctx.db)).resolves.toBeInstanceOf(DiskStorage)
    // A disk that is not mounted is an empty directory.
    const refusal = await openAt(newDirectory(), one.ctx.db).catch((error) => error)
    expect(refusal).toBeInstanceOf(ConfigError)
    expect(refusal.message).toMatch(/^BATON_FILES_DIR \S+ has no marker of this instance; [^\n]+$/)
    const foreign = await openAt(elsewhere as string, one.ctx.db).catch((error) => error)
    expect(foreign).toBeInstanceOf(ConfigError)
    expect(foreign.message).toMatch(/^BATON_FILES_DIR \S+ belongs to another instance; [^\n]+$/)
    // Its files can move to another directory with the marker.
    const moved = newDirectory()
    await writeFile(join(moved, '.baton-instance'), await readFile(join(dir as string, '.baton-instance')))
    await expect(openAt(moved, one.ctx.db)).resolves.toBeInstanceOf(DiskStorage)
  })

  test('that cannot be written stops the start', async ({ startApp }) => {
    const { ctx } = await startApp()
    await ctx.db.run(sql`delete from settings where name = 'files_directory'`)
    await expect(openAt('/proc/none', ctx.db)).rejects.toThrow(/^BATON_FILES_DIR \/proc\/none cannot be used: /)
  })
})
