import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { expect } from 'vitest'
import { upload as uploadFile } from '../../test/files.ts'
import { test, verifies } from '../../test/harness.ts'
import { csv, importAll, issueCalled, preview, problemsOf, start, upload } from '../../test/imports.ts'
import { listen } from '../../test/loopback-server.ts'
import { sql } from '../db/sql.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A host of attachments, one of which is gone. */
async function attachmentHost() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (request.url === '/gone.txt') response.writeHead(404).end()
    else response.writeHead(200, { 'content-length': png.length }).end(png)
  })
  return { url: `http://localhost:${await listen(server)}`, asked }
}

const header = ['Summary', 'Issue key', 'Issue id', 'Project name', 'Status', 'Attachment', 'Attachment']

test(
  'attachments become files, and a failed one keeps its address',
  verifies('import.attachments', 'import.preview-equals-run'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const { url, asked } = await attachmentHost()
    const cell = (name: string) => `01/Jan/26 9:00 AM;ada;${name};${url}/${name}`
    const content = csv(header, ['Door', 'OLD-1', '10001', 'Old', 'To Do', cell('picture.png'), cell('gone.txt')])
    const id = await upload(owner, 'jira', content)
    const read = await preview(app, owner, id)
    expect(read).toMatchObject({ state: 'ready', counts: { files: { created: 1, skipped: 1 } } })
    expect(asked.sort()).toEqual(['/gone.txt', '/picture.png'])
    const foreseen = await problemsOf(owner, id)
    expect(foreseen).toMatchObject([{ field: 'attachment', value: `${url}/gone.txt` }])
    const done = await start(app, owner, id)
    expect(done.counts).toEqual(read.counts)
    expect(await problemsOf(owner, id)).toEqual(foreseen)
    const issue = await issueCalled(owner, 'Door')
    expect(issue.description).toBe(`[gone.txt](<${url}/gone.txt>)`)
    const { files } = (await owner.get(`/issues/${issue.id}/related`)).body
    expect(files).toMatchObject([{ name: 'picture.png', media_type: 'image/png', inline: true, bytes: png.length }])
    expect((await owner.get(`/files/${files[0].id}/content`)).status).toBe(200)
    // The run used what was fetched before; a second import finds the file here.
    expect(asked.length).toBe(2)
    const again = await importAll(app, owner, 'jira', content)
    expect(again.counts).toMatchObject({ issues: { created: 0, unchanged: 1 }, files: { created: 0, unchanged: 1 } })
  },
)

const cellsOf = (url: string, names: string[]) => names.map((name) => `01/Jan/26 9:00 AM;ada;${name};${url}/${name}`)
const rowOf = (url: string, ...names: string[]) =>
  csv(
    [...header.slice(0, 5), ...names.map(() => 'Attachment')],
    ['Door', 'OLD-1', '10001', 'Old', 'To Do', ...cellsOf(url, names)],
  )

test(
  'attachments that exceed the storage of the workspace keep their address and are reported',
  verifies('file.workspace-limit', 'import.attachments'),
  async ({ startApp }) => {
    const app = await startApp({ BATON_WORKSPACE_BYTES: String(3 * png.length) })
    const { owner } = await app.workspace()
    const { url } = await attachmentHost()
    const id = await upload(owner, 'jira', rowOf(url, 'a.png', 'b.png', 'c.png'))
    const fits = await preview(app, owner, id)
    expect([fits.counts.files, fits.problem_count]).toMatchObject([{ created: 3, skipped: 0 }, 0])
    // One is uploaded between the preview and the run.
    const { body: uploaded } = await uploadFile(owner, png)
    const done = await start(app, owner, id)
    expect([done.state, done.counts.files, done.problem_count]).toMatchObject(['done', { created: 2, skipped: 1 }, 1])
    expect(await problemsOf(owner, id)).toMatchObject([
      {
        field: 'attachment',
        value: `${url}/c.png`,
        message: expect.stringContaining('storage of the workspace is full'),
      },
    ])
    expect((await issueCalled(owner, 'Door')).description).toBe(`[c.png](<${url}/c.png>)`)
    expect((await owner.get('/workspaces/me/storage')).body).toMatchObject({ used: 3 * png.length, files: 3 })
    // A second run imports the rest when there is room.
    expect((await owner.delete(`/files/${uploaded.id}`)).status).toBe(204)
    expect(await start(app, owner, id)).toMatchObject({ counts: { files: { created: 1 } }, problem_count: 0 })
  },
)

test('an item gets at most 200 attachments', verifies('import.attachments'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { url, asked } = await attachmentHost()
  const names = Array.from({ length: 201 }, (_, number) => `${String(number).padStart(3, '0')}.png`)
  const done = await importAll(app, owner, 'jira', rowOf(url, ...names))
  expect([asked.length, done.counts.files, done.problem_count]).toMatchObject([200, { created: 200, skipped: 1 }, 1])
  const issue = await issueCalled(owner, 'Door')
  expect(issue.description).toBe(`[200.png](<${url}/200.png>)`)
  expect((await owner.get(`/issues/${issue.id}/related`)).body.files).toHaveLength(200)
  expect(await app.ctx.db.rows(sql`select 1 from files where unlinked_at is not null`)).toEqual([])
})

test('an address of any length is kept', verifies('import.attachments'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { url } = await attachmentHost()
  // An index entry of PostgreSQL has at most 2,704 bytes after compression.
  const name = `${randomBytes(6000).toString('hex')}.png`
  const done = await importAll(app, owner, 'jira', rowOf(url, name))
  expect(done.counts.files).toMatchObject({ created: 0, skipped: 1 })
  expect((await issueCalled(owner, 'Door')).description).toContain(name.slice(0, 3000))
})
