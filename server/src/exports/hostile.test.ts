import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { programLimits } from '@baton/protocol'
import { beforeAll, describe, expect } from 'vitest'
import { archiveScene } from '../../test/archive-scene.ts'
import {
  type Entry,
  exportOf,
  manifestOf,
  packed,
  type Rows,
  restoreOf,
  unpack,
  withRows,
} from '../../test/archives.ts'
import { TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'

let entries: Entry[]
beforeAll(async () => {
  const app = await TestApp.start()
  const { owner } = await archiveScene(app)
  entries = await unpack(await exportOf(app, owner))
  await app.stop()
})

/** Everything but the restores, whose states say that they were refused. */
async function withoutRestores(app: TestApp) {
  await app.ctx.db.run(sql`delete from restores`)
  const keys: string[] = []
  for (const prefix of ['files/', 'restores/'])
    for await (const { key } of app.ctx.storage?.list(prefix) ?? []) keys.push(key)
  return { rows: await app.everything(), keys }
}

async function refused(app: TestApp, person: TestPerson, archive: Buffer) {
  const before = await withoutRestores(app)
  const restore = await restoreOf(app, person, archive)
  expect(restore).toMatchObject({ state: 'failed', workspace_id: null })
  expect(restore.problems).toHaveLength(1)
  expect(await withoutRestores(app)).toEqual(before)
  return restore.problems[0]
}

const added = (entry: Entry) => [...entries.slice(0, -1), entry]
const manifestWith = (change: (manifest: ReturnType<typeof manifestOf>) => void) => {
  const manifest = manifestOf(entries)
  change(manifest)
  return [{ path: 'manifest.json', data: Buffer.from(JSON.stringify(manifest)) }, ...entries.slice(1)]
}
const part = (table: string) => entries.find(({ path }) => path === `data/${table}/000001.jsonl`) as Entry
const empty = Buffer.alloc(0)
const first = (table: string, change: (row: Rows[0]) => void) => () =>
  withRows(entries, table, (rows) => {
    change(rows[0] as Rows[0])
  })

describe('an archive is refused and leaves no data', () => {
  const cases: [what: string, make: () => Entry[], message: RegExp][] = [
    ['with a path traversal', () => added({ path: 'files/../../etc/passwd', data: empty }), /a name that no export/],
    ['with an absolute path', () => added({ path: '/etc/passwd', data: empty }), /a name that no export/],
    ['with another file', () => added({ path: 'data/issues/x.txt', data: empty }), /a name that no export/],
    [
      'with another table',
      () => [entries[0] as Entry, { path: 'data/logins/000001.jsonl', data: Buffer.from('{}\n') }, ...entries.slice(1)],
      /a name that no export/,
    ],
    [
      'with a symbolic link',
      () => added({ path: `files/${newId('fil')}`, data: empty, header: { type: 'symlink', linkname: '/etc/passwd' } }),
      /a link, a device/,
    ],
    [
      'with a hard link',
      () => added({ path: `files/${newId('fil')}`, data: empty, header: { type: 'link', linkname: 'manifest.json' } }),
      /a link, a device/,
    ],
    [
      'with a device',
      () => added({ path: `files/${newId('fil')}`, data: empty, header: { type: 'character-device' } }),
      /a link, a device/,
    ],
    [
      'with a directory',
      () => added({ path: 'files/', data: empty, header: { type: 'directory' } }),
      /a link, a device/,
    ],
    ['with a long name', () => added({ path: `files/${'x'.repeat(300)}`, data: empty }), /a link, a device/],
    [
      'with an unknown field',
      first('issues', (row) => Object.assign(row, { password_hash: 'x' })),
      /password_hash is not a known/,
    ],
    [
      'with the id of a workspace in a row',
      first('issues', (row) => Object.assign(row, { workspace_id: newId('wsp') })),
      /is not a known/,
    ],
    [
      'with an unknown field of the manifest',
      () => manifestWith((manifest) => Object.assign(manifest, { admin: true })),
      /admin is not a known/,
    ],
    ['with a malformed id', first('issues', (row) => Object.assign(row, { id: 'iss_1' })), /id must match/],
    ['with an id of another kind', first('issues', (row) => Object.assign(row, { id: newId('prj') })), /id must match/],
    [
      'with a malformed id of the workspace',
      () => manifestWith((manifest) => (manifest.workspace.id = "wsp_'; drop")),
      /id must match/,
    ],
    ['with an id twice', () => withRows(entries, 'issues', (rows) => [...rows, rows[0] as Rows[0]]), /occurs twice/],
    [
      'with a reference to no row',
      first('issues', (row) => Object.assign(row, { reporter_id: newId('usr') })),
      /not in the archive/,
    ],
    [
      'with a link to no item',
      first('file_links', (row) => Object.assign(row, { target_id: newId('iss') })),
      /not in the archive/,
    ],
    [
      'with a session of no issue',
      first('agent_sessions', (row) => Object.assign(row, { issue_id: newId('iss') })),
      /not in the archive/,
    ],
    [
      'with issues that are each other’s parent',
      () =>
        withRows(
          entries,
          'issue_parents',
          ([row]) => [row, { issue_id: row?.parent_id, parent_id: row?.issue_id }] as Rows,
        ),
      /its own ancestor/,
    ],
    [
      'with a status that does not exist',
      first('issues', (row) => Object.assign(row, { status: 'open' })),
      /status must be/,
    ],
    [
      'with a time that is none',
      first('issues', (row) => Object.assign(row, { created_at: 'yesterday' })),
      /created_at/,
    ],
    ['with NUL in a text', first('issues', (row) => Object.assign(row, { description: 'a\0b' })), /NUL/],
    [
      'with the same code twice',
      () => withRows(entries, 'issue_codes', (rows) => [...rows, { ...rows[0], issue_id: rows[1]?.issue_id }]),
      /does not accept/,
    ],
    ['with an issue without its code', first('issues', (row) => Object.assign(row, { code: 'ENG-99' })), /issue_codes/],
    [
      'without a row that the manifest counts',
      () => manifestWith((manifest) => manifest.rows.issues++),
      /number of rows of issues/,
    ],
    [
      'with rows in another order of tables',
      () => [entries[0] as Entry, part('issues'), ...entries.slice(1)],
      /not in the archive|out of order/,
    ],
    ['without a manifest', () => entries.slice(1), /first entry must be/],
    ['of another format', () => manifestWith((manifest) => (manifest.version = 2)), /version/],
    [
      'with a line that is no JSON',
      () =>
        entries.map((entry) =>
          entry.path === part('issues').path ? { ...entry, data: Buffer.from('{"id":\n') } : entry,
        ),
      /valid JSON/,
    ],
    [
      'with a file of another size',
      () => entries.map((entry) => (entry.path.startsWith('files/') ? { ...entry, data: Buffer.from('x') } : entry)),
      /another size/,
    ],
    [
      'with more files than a workspace may have',
      () => manifestWith((manifest) => (manifest.files.bytes = 11 * 1024 ** 3)),
      /at most/,
    ],
  ]
  test.for(cases)('%s', verifies('export.restore-hostile'), async ([, make, message], { app }) => {
    const person = await app.person()
    const problem = await refused(app, person, await packed(make()))
    expect(problem.message).toMatch(message)
  })

  test('with a wrong checksum', verifies('export.restore-hostile'), async ({ app }) => {
    const person = await app.person()
    const changed = await packed(
      entries,
      String(entries.at(-1)?.data).replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    )
    expect((await refused(app, person, changed)).message).toMatch(/checksums/)
    // The checksums of the export, and another title.
    const other = first('issues', (row) => Object.assign(row, { title: 'Fit the door' }))()
    expect((await refused(app, person, await packed(other, String(entries.at(-1)?.data)))).message).toMatch(/checksums/)
  })

  test('that expands to more than 100 times its size', verifies('export.restore-hostile'), async ({ app }) => {
    const person = await app.person()
    const wide = (count: number) => {
      const row = { ...withRowsOf('issues')[0], description: 'a'.repeat(100_000) }
      const rows = Array.from({ length: count }, () => `${JSON.stringify({ ...row, id: newId('iss') })}\n`)
      const before = entries.slice(0, entries.indexOf(part('issues')))
      return [...before, { path: part('issues').path, data: Buffer.from(rows.join('')) }]
    }
    expect((await refused(app, person, await packed(wide(150)))).message).toMatch(/more than 100 times/)
    // Below the limit, another rule refuses it.
    expect((await refused(app, person, await packed(wide(10)))).message).not.toMatch(/100 times/)
  })

  test('that is no archive, or ends early', verifies('export.restore-hostile'), async ({ app }) => {
    const person = await app.person()
    expect((await refused(app, person, randomBytes(1000))).message).toMatch(/not a complete gzip/)
    expect((await refused(app, person, gzipSync(randomBytes(10_000)))).message).toMatch(/header/)
    const whole = await packed(entries)
    expect((await refused(app, person, whole.subarray(0, whole.length / 2))).message).toMatch(
      /not a complete gzip|incomplete/,
    )
    expect((await refused(app, person, gzipSync(Buffer.alloc(2048)))).message).toMatch(/ends without/)
  })

  test('of more than 20 GB, before it is read', verifies('export.restore-hostile'), async ({ app }) => {
    const person = await app.person()
    const send = (bytes: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${person.token}`, 'content-length': bytes }
        const sent = request(`${app.rootUrl}/api/v1/restores`, { method: 'POST', headers }, (response) => {
          resolve(response.statusCode)
          sent.destroy()
        })
        sent.on('error', reject)
        sent.flushHeaders()
      })
    await app.unchanged(async () => {
      expect(await send(programLimits.archiveBytes + 1)).toBe(413)
    })
  })

  test('whose body is shorter than its length', verifies('export.restore-hostile'), async ({ app }) => {
    const person = await app.person()
    const before = await withoutRestores(app)
    const headers = { authorization: `Bearer ${person.token}`, 'content-length': 1000 }
    const sent = request(`${app.rootUrl}/api/v1/restores`, { method: 'POST', headers }).on('error', () => {})
    sent.write('x')
    const restores = () => app.ctx.db.rows(sql`select 1 from restores`)
    await expect.poll(restores).toHaveLength(1)
    sent.destroy()
    await expect.poll(restores).toEqual([])
    expect(await withoutRestores(app)).toEqual(before)
  })
})

const withRowsOf = (table: string): Rows =>
  String(part(table).data)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
