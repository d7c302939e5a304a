import { describe, expect } from 'vitest'
import { content, contentAs, png, storedKeys, upload } from '../../test/files.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { disableAccounts } from '../login/users.ts'
import { transact } from '../unit-of-work.ts'

describe('content', () => {
  test('cannot run anything', verifies('file.headers', 'file.svg-never-inline'), async ({ app }) => {
    const { owner } = await app.workspace()
    for (const [bytes, type, disposition] of [
      [png(), 'image/png', /^inline; filename="a ?/],
      ['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'application/octet-stream', /^attachment;/],
      ['<!doctype html><script>alert(1)</script>', 'application/octet-stream', /^attachment;/],
      ['<?xml version="1.0"?><a/>', 'application/octet-stream', /^attachment;/],
      ['alert(document.cookie)', 'text/plain; charset=utf-8', /^attachment;/],
      ['%PDF-1.7 ', 'application/pdf', /^attachment;/],
    ] as const) {
      const { body } = await upload(owner, Buffer.from(bytes), 'a "1" ü.svg')
      const { headers } = await contentAs(app, owner, body.id)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': type,
        'content-disposition': expect.stringMatching(disposition),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'private, max-age=300',
        etag: expect.stringMatching(/^"[\w-]{43}"$/),
      })
      expect(headers.get('content-disposition')).toContain(
        `filename="a _1_ _.svg"; filename*=UTF-8''a%20%221%22%20%C3%BC.svg`,
      )
    }
  })

  test('is sent in part', verifies('file.range'), async ({ app }) => {
    const { owner } = await app.workspace()
    const bytes = Buffer.from('0123456789')
    const { body } = await upload(owner, bytes, 'a.txt')
    const get = (headers: Record<string, string>) => contentAs(app, owner, body.id, headers)
    for (const [range, part, sent] of [
      ['bytes=0-0', '0-0', '0'],
      ['bytes=2-4', '2-4', '234'],
      ['bytes=7-', '7-9', '789'],
      ['bytes=7-100', '7-9', '789'],
      ['bytes=-3', '7-9', '789'],
      ['bytes=-100', '0-9', '0123456789'],
    ] as const) {
      const answer = await get({ range })
      expect([answer.status, answer.bytes.toString()]).toEqual([206, sent])
      expect(answer.headers.get('content-range')).toBe(`bytes ${part}/10`)
      expect(answer.headers.get('content-length')).toBe(String(sent.length))
    }
    for (const range of ['bytes=10-', 'bytes=-0', 'bytes=99-100']) {
      const answer = await get({ range })
      expect([answer.status, answer.bytes.length]).toEqual([416, 0])
      expect(answer.headers.get('content-range')).toBe('bytes */10')
    }
    // Others are ignored, as the standard allows.
    for (const range of ['bytes=0-1,3-4', 'bytes=4-2', 'items=0-1', 'bytes=a-b', 'bytes=-']) {
      expect([range, (await get({ range })).status]).toEqual([range, 200])
    }
    const etag = (await get({})).headers.get('etag') as string
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      expect((await get({ 'if-none-match': known })).status).toBe(304)
    }
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
    expect((await get({ range: 'bytes=0-0', 'if-range': etag })).status).toBe(206)
    expect((await get({ range: 'bytes=0-0', 'if-range': '"other"' })).status).toBe(200)
  })
})

test(
  'a signed link works for 5 minutes, as long as its maker has access',
  verifies('file.signed-link'),
  async ({ startApp }) => {
    const app = await startApp()
    const { owner, admin, member } = await app.workspace()
    const { body: issue } = await owner.post('/issues', { title: 'One' })
    const { body: file } = await upload(owner, png(), 'a', { target_type: 'issue', target_id: issue.id })
    const linkOf = async (client = member) => {
      const { status, body } = await client.post(`/files/${file.id}/link`)
      expect(status).toBe(201)
      return new URL(body.url).pathname
    }
    const status = async (path: string) => (await content(app, path)).status
    const link = await linkOf()
    const { bytes, headers } = await content(app, link)
    expect(bytes.equals(png())).toBe(true)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('cache-control')).toBe('private, no-store')
    for (let at = 3; at < link.length; at++) {
      const changed = link.slice(0, at) + (link[at] === 'a' ? 'b' : 'a') + link.slice(at + 1)
      expect(await status(changed)).toBe(404)
    }
    // The last character has bits that base64 ignores.
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      expect(await status(link.slice(0, -1) + last)).toBe(last === link.at(-1) ? 200 : 404)
    }
    app.clock.advance({ minutes: 4, seconds: 59 })
    expect(await status(link)).toBe(200)
    app.clock.advance({ seconds: 1 })
    expect(await status(link)).toBe(404)

    const robot = await app.installed(owner, { scopes: ['read'] })
    const [byMember, byAdmin, byRobot] = [await linkOf(), await linkOf(admin), await linkOf(robot as never)]
    const { body: token } = await admin.post('/personal-tokens', { name: 'Script', scopes: ['read'] })
    await owner.delete(`/workspaces/me/members/${member.user.id}`)
    expect([await status(byMember), await status(byAdmin), await status(byRobot)]).toEqual([404, 200, 200])
    await owner.delete(`/installations/${robot.installationId}`)
    expect([await status(byAdmin), await status(byRobot)]).toEqual([200, 404])
    await owner.put(`/issues/${issue.id}`, { personal: true })
    expect(await status(byAdmin)).toBe(404)
    await owner.put(`/issues/${issue.id}`, { personal: false })
    expect(await status(byAdmin)).toBe(200)
    expect(token.token).toBeTruthy()
    await owner.delete(`/files/${file.id}`)
    expect(await status(byAdmin)).toBe(404)
  },
)

test('a link of a token for selected teams ends with the token', verifies('file.signed-link'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { body: issue } = await owner.post('/issues', { title: 'One', team_id: team.id })
  const { body: file } = await upload(owner, png(), 'a', { target_type: 'issue', target_id: issue.id })
  const { body: made } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read'], team_ids: [team.id] })
  const script = owner.with({ authorization: `Bearer ${made.token}` })
  const { pathname } = new URL((await script.post(`/files/${file.id}/link`)).body.url)
  expect((await content(app, pathname)).status).toBe(200)
  await owner.delete(`/personal-tokens/${made.personal_token.id}`)
  expect((await content(app, pathname)).status).toBe(404)
})

test('a link ends with its maker and its workspace', verifies('file.signed-link'), async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { body: issue } = await owner.post('/issues', { title: 'One' })
  const { body: file } = await upload(owner, png(), 'a', { target_type: 'issue', target_id: issue.id })
  const linkOf = async (person: typeof owner) =>
    new URL((await person.post(`/files/${file.id}/link`)).body.url).pathname
  const [byMember, byOwner] = [await linkOf(member), await linkOf(owner)]
  const statuses = async () => [(await content(app, byMember)).status, (await content(app, byOwner)).status]
  expect(await statuses()).toEqual([200, 200])
  await transact(app.ctx, null, (unit) => disableAccounts(unit, [member.user.email]))
  expect(await statuses()).toEqual([404, 200])
  await app.ctx.db.run(sql`update workspaces set purged_since = ${app.clock.now()} where id = ${owner.workspaceId}`)
  expect(await statuses()).toEqual([404, 404])
})

describe('the sweep', () => {
  const ids = async (app: TestApp) =>
    (await app.ctx.db.rows<{ id: string; state: string }>(sql`select id, state from files order by id`)).map(
      ({ id, state }) => `${id} ${state}`,
    )

  test(
    'deletes drafts after a day, and their bytes a day later',
    verifies('file.draft-swept'),
    async ({ startApp }) => {
      const app = await startApp()
      const { owner } = await app.workspace()
      const { body: draft } = await upload(owner, png())
      const { body: issue } = await owner.post('/issues', { title: 'One' })
      const { body: kept } = await upload(owner, png(), 'a', { target_type: 'issue', target_id: issue.id })
      app.clock.advance({ hours: 23, minutes: 59 })
      await sweep(app.ctx)
      expect(await ids(app)).toEqual([`${draft.id} ready`, `${kept.id} ready`])
      app.clock.advance({ minutes: 1 })
      await sweep(app.ctx)
      expect(await ids(app)).toEqual([`${draft.id} deleting`, `${kept.id} ready`])
      // A backup of the database from before still finds the bytes.
      app.clock.advance({ hours: 23, minutes: 59 })
      await sweep(app.ctx)
      expect(await storedKeys(app)).toEqual([`files/${draft.id}`, `files/${kept.id}`])
      app.clock.advance({ minutes: 1 })
      await sweep(app.ctx)
      expect(await ids(app)).toEqual([`${kept.id} ready`])
      expect(await storedKeys(app)).toEqual([`files/${kept.id}`])
    },
  )

  test('deletes files whose last item was deleted', verifies('file.draft-swept'), async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const draft = async () => (await upload(owner, png())).body.id as string
    const make = async (description: string) =>
      (await owner.post('/issues', { title: 'One', team_id: team.id, description })).body.id as string
    const deletions: ((file: string) => Promise<() => Promise<unknown>>)[] = [
      async (file) => {
        const issue = await make(`![x](${file})`)
        return () => owner.delete(`/issues/${issue}`)
      },
      async (file) => {
        await make(`![x](${file})`)
        return () => owner.delete(`/teams/${team.id}?delete_issues=true`)
      },
      async (file) => {
        const { body } = await owner.post('/projects', { title: 'Plan', description: `![x](${file})` })
        return () => owner.delete(`/projects/${body.id}`)
      },
      async (file) => {
        const issue = await owner.post('/issues', { title: 'Two' })
        const text = `![x](${file})`
        const { body } = await owner.post('/comments', { target_type: 'issue', target_id: issue.body.id, text })
        return () => owner.delete(`/comments/${body.id}`)
      },
      // With the issue, its comments are deleted.
      async (file) => {
        const issue = await owner.post('/issues', { title: 'Two' })
        const text = `![x](${file})`
        await owner.post('/comments', { target_type: 'issue', target_id: issue.body.id, text })
        return () => owner.delete(`/issues/${issue.body.id}`)
      },
    ]
    const files: string[] = []
    const undo: (() => Promise<unknown>)[] = []
    for (const prepare of deletions.toReversed()) {
      const file = await draft()
      files.push(file)
      undo.push(await prepare(file))
    }
    const [shared] = [await draft()]
    const first = (await owner.post('/issues', { title: 'Three', description: `![x](${shared})` })).body.id
    const second = (await owner.post('/issues', { title: 'Four', description: `![x](${shared})` })).body.id
    app.clock.advance({ hours: 30 })
    await sweep(app.ctx)
    expect(await ids(app)).toEqual([...files, shared].map((id) => `${id} ready`))
    for (const one of undo) await one()
    await owner.delete(`/issues/${first}`)
    await sweep(app.ctx)
    app.clock.advance({ hours: 23, minutes: 59 })
    await sweep(app.ctx)
    expect(await ids(app)).toEqual([...files, shared].map((id) => `${id} ready`))
    app.clock.advance({ minutes: 1 })
    await sweep(app.ctx)
    expect(await ids(app)).toEqual([...files.map((id) => `${id} deleting`), `${shared} ready`])
    await owner.delete(`/issues/${second}`)
    for (let day = 0; day < 3; day++) {
      await sweep(app.ctx)
      app.clock.advance({ hours: 24 })
    }
    expect(await ids(app)).toEqual([])
    expect(await storedKeys(app)).toEqual([])
  })

  test('removes uploads that were never completed', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { body } = await upload(owner, png())
    await app.ctx.db.run(sql`update files set state = 'uploading', sha256 = null, unlinked_at = null`)
    app.clock.advance({ minutes: 59 })
    await sweep(app.ctx)
    expect(await storedKeys(app)).toEqual([`files/${body.id}`])
    app.clock.advance({ minutes: 1 })
    await sweep(app.ctx)
    expect(await storedKeys(app)).toEqual([])
    expect(await ids(app)).toEqual([])
  })
})
