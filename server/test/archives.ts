import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip, gzipSync } from 'node:zlib'
import { extract, type Header, pack } from 'tar-stream'
import { expect } from 'vitest'
import { sql } from '../src/db/sql.ts'
import { newId } from '../src/ids.ts'
import type { TestApp, TestPerson } from './harness.ts'

export interface Entry {
  path: string
  data: Buffer
  /** In place of a plain file. */
  header?: Partial<Header>
}
// biome-ignore lint/suspicious/noExplicitAny: tests access any column
export type Rows = Record<string, any>[]

/** Exports the workspace of an owner, and downloads the archive with its link. */
export async function exportOf(app: TestApp, owner: TestPerson): Promise<Buffer> {
  const created = await owner.post('/exports')
  expect(created.status).toBe(201)
  await app.workOnArchives()
  return download(app, owner, created.body.id)
}

export async function download(app: TestApp, owner: TestPerson, exportId: string): Promise<Buffer> {
  const { status, body } = await owner.post(`/exports/${exportId}/link`)
  expect(status).toBe(200)
  const response = await fetch(app.rootUrl + new URL(body.url).pathname)
  expect(response.status).toBe(200)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
  return bytes
}

/** The entries of an archive in their order, as another tar library reads them. */
export async function unpack(archive: Buffer): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of Readable.from([archive])
    .pipe(createGunzip())
    .pipe(extract() as never) as AsyncIterable<Readable & { header: Header }>) {
    expect(entry.header.type).toBe('file')
    entries.push({ path: entry.header.name, data: await buffer(entry) })
  }
  return entries
}

const sumOf = (data: Buffer) => createHash('sha256').update(data).digest('hex')

export const sumsOf = (entries: Entry[]) =>
  entries
    .filter(({ path }) => path !== 'checksums.txt')
    .map(({ path, data }) => `${sumOf(data)}  ${path}\n`)
    .join('')

/** An archive of these entries, written by another tar library. Its checksums are correct unless `sums` is given. */
export async function packed(entries: Entry[], sums?: string): Promise<Buffer> {
  const tar = pack()
  const checksums: Entry = { path: 'checksums.txt', data: Buffer.from(sums ?? sumsOf(entries)) }
  for (const { path, data, header } of [...entries.filter(({ path }) => path !== 'checksums.txt'), checksums]) {
    tar.entry({ name: path, ...header }, header?.type ? undefined : data)
  }
  tar.finalize()
  return gzipSync(await buffer(tar))
}

export const manifestOf = (entries: Entry[]) => JSON.parse(String(entries[0]?.data))

export const rowsOf = (entries: Entry[], table: string): Rows =>
  entries
    .filter(({ path }) => path.startsWith(`data/${table}/`))
    .flatMap(({ data }) => String(data).trimEnd().split('\n'))
    .map((line) => JSON.parse(line))

/** The same archive with other rows in a table of one part; the numbers in the manifest follow. */
export function withRows(entries: Entry[], table: string, change: (rows: Rows) => Rows | undefined): Entry[] {
  const rows = rowsOf(entries, table)
  const changed = change(rows) ?? rows
  const path = `data/${table}/000001.jsonl`
  const manifest = manifestOf(entries)
  manifest.rows[table] = changed.length
  return entries.map((entry) => {
    if (entry.path === 'manifest.json') return { ...entry, data: Buffer.from(JSON.stringify(manifest)) }
    return entry.path === path
      ? { path, data: Buffer.from(changed.map((row) => `${JSON.stringify(row)}\n`).join('')) }
      : entry
  })
}

/** Sends an archive and waits for the result. */
export async function restoreOf(app: TestApp, person: TestPerson, archive: Buffer) {
  const sent = await person.post('/restores', undefined, { raw: archive })
  expect(sent).toMatchObject({ status: 201, body: { state: 'reading', workspace_id: null, problems: [] } })
  await app.workOnArchives()
  const { body } = await person.get(`/restores/${sent.body.id}`)
  return body
}

/** A file with a link, as an upload leaves it. */
export async function fileOn(
  { ctx, clock }: TestApp,
  { workspaceId, user }: TestPerson,
  target: { type: string; id: string } | null,
  data: Buffer,
): Promise<string> {
  const id = newId('fil')
  const { sha256 } = await (ctx.storage as NonNullable<typeof ctx.storage>).put(
    `files/${id}`,
    Readable.from([data], { objectMode: false }),
    data.length,
  )
  const now = clock.now()
  await ctx.db.run(sql`
    insert into files (id, workspace_id, uploader_id, name, bytes, media_type, inline, sha256, state, created_at)
    values (${id}, ${workspaceId}, ${user.id}, 'notes.txt', ${data.length}, 'text/plain', false, ${sha256}, 'ready', ${now})`)
  if (target) {
    await ctx.db.run(sql`
      insert into file_links (file_id, workspace_id, target_type, target_id, created_at)
      values (${id}, ${workspaceId}, ${target.type}, ${target.id}, ${now})`)
  }
  return id
}
