import { createServer } from 'node:http'
import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { csv, importAll, issueCalled, preview, problemsOf, start, upload } from '../../test/imports.ts'
import { listen } from '../../test/loopback-server.ts'

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
