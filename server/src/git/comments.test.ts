import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { gitScene, type PullRequestFields, pullRequest } from '../../test/git.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import type { Receiver } from '../../test/receiver.ts'
import { sql } from '../db/sql.ts'
import { postDueComments } from './comments.ts'

const token = 'ghp_secret-token'
const hostOf = (receiver: Receiver) => new URL(receiver.url).origin

async function scene(app: TestApp, receiver: Receiver, fields: object = {}) {
  const base = await gitScene(app, { host: hostOf(receiver), ...fields })
  receiver.answer = 201
  const comment = async () =>
    (await base.owner.get(`/git-connections/${base.connection.id}/deliveries`)).body.data[0].comment
  return { ...base, comment }
}

test(
  'without a token nothing is sent to the git host',
  verifies('git.nothing-posted-without-token'),
  async ({ app, receiver }) => {
    const { send, issue, comment, later, owner, connection } = await scene(app, receiver)
    await send({ title: issue.code })
    await send({ title: issue.code, action: 'closed', merged: true, updated: later() })
    await postDueComments(app.ctx)
    app.clock.advance({ hours: 1 })
    await postDueComments(app.ctx)
    expect(receiver.take()).toEqual([])
    expect(await comment()).toBeNull()
    // Removed again before the comment is posted.
    await owner.patch(`/git-connections/${connection.id}`, { token })
    await send({ number: 8, title: issue.code })
    await owner.patch(`/git-connections/${connection.id}`, { token: null })
    await postDueComments(app.ctx)
    expect(receiver.take()).toEqual([])
  },
)

test('with a token each pull request gets one comment', verifies('git.comment-once'), async ({ app, receiver }) => {
  const { send, issue, later, comment, owner } = await scene(app, receiver, { token })
  await owner.put(`/issues/${issue.id}`, { title: 'The `door` @ada sticks' })
  const title = `${issue.code} oil`
  const both: [PullRequestFields, string][] = [
    [
      { number: 7, private: true },
      `[${issue.code}](http://localhost:3000/issue/${issue.code}): \`The  door  @ada sticks\``,
    ],
    [{ number: 8, private: false }, `[${issue.code}](http://localhost:3000/issue/${issue.code})`],
  ]
  for (const [fields, text] of both) {
    await send({ ...fields, title, updated: later() })
    expect(await comment()).toBe('waiting')
    await postDueComments(app.ctx)
    await send({ ...fields, title: `${title} more`, action: 'edited', updated: later() })
    await postDueComments(app.ctx)
    app.clock.advance({ hours: 1 })
    await postDueComments(app.ctx)
    const received = receiver.take()
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: `/api/v3/repos/acme/shop/issues/${fields.number}/comments`,
        headers: { authorization: `Bearer ${token}` },
      },
    ])
    expect(received[0]?.body.body).toBe(text.replace('http://localhost:3000', app.ctx.config.appUrl))
    expect(await comment()).toBe('posted')
  }
  // Neither without an issue, nor when it is over.
  await send({ number: 9, updated: later() })
  await send({ number: 10, title, merged: true, action: 'closed', updated: later() })
  await postDueComments(app.ctx)
  expect(receiver.take()).toEqual([])
})

test('an internal repository gets no title', verifies('git.comment-once'), async ({ app, receiver }) => {
  const { sendBody, issue } = await scene(app, receiver, { token })
  for (const [number, more] of [
    [7, { visibility: 'internal' }],
    [8, { internal: true }],
  ] as const) {
    const body = pullRequest({ number, title: issue.code, private: true })
    await sendBody({ ...body, repository: { ...body.repository, ...more } }, 'pull_request')
    await postDueComments(app.ctx)
    expect(receiver.take().map(({ body }) => body.body)).toEqual([expect.stringMatching(/\)$/)])
  }
})

test.for([
  ['gitlab', '/api/v4/projects/acme%2Fshop/merge_requests/7/notes', { 'private-token': token }],
  ['gitea', '/api/v1/repos/acme/shop/issues/7/comments', { authorization: `token ${token}` }],
  ['forgejo', '/api/v1/repos/acme/shop/issues/7/comments', { authorization: `token ${token}` }],
] as const)(
  '%s has its own address and header',
  verifies('git.comment-once'),
  async ([kind, path, headers], { app, receiver }) => {
    const { send, sendBody, issue } = await scene(app, receiver, { kind, token })
    if (kind === 'gitlab') {
      const { mergeRequest } = await import('../../test/git.ts')
      await sendBody(mergeRequest({ title: issue.code }), 'Merge Request Hook')
    } else await send({ title: issue.code })
    await postDueComments(app.ctx)
    expect(receiver.take()).toMatchObject([{ method: 'POST', path, headers }])
  },
)

test(
  'a failed comment is repeated, but never posted twice',
  verifies('git.comment-once'),
  async ({ app, receiver }) => {
    const { send, issue, comment } = await scene(app, receiver, { token })
    const posted: string[] = []
    receiver.answer = (response, { method, body }) => {
      if (method === 'GET') return response.writeHead(200).end(JSON.stringify(posted.map((text) => ({ body: text }))))
      posted.push(body.body)
      // It took the comment, but its answer is lost.
      return response.writeHead(502).end()
    }
    await send({ title: issue.code })
    await postDueComments(app.ctx)
    expect(await comment()).toBe('waiting')
    await postDueComments(app.ctx)
    expect(posted).toHaveLength(1)
    app.clock.advance({ minutes: 5 })
    await postDueComments(app.ctx)
    expect(posted).toHaveLength(1)
    expect(await comment()).toBe('posted')
  },
)

test(
  'a repeated comment is found as a whole, and not posted if the list is too long',
  verifies('git.comment-once'),
  async ({ app, receiver }) => {
    const { send, issue, comment, later } = await scene(app, receiver, { token })
    const posted: string[] = []
    let comments = ''
    receiver.answer = (response, { method, body }) => {
      if (method === 'GET') return response.writeHead(200).end(comments)
      posted.push(body.body)
      return response.writeHead(posted.length === 1 ? 503 : 201).end()
    }
    // The address of another issue begins with that of this one.
    comments = JSON.stringify([{ body: `${app.ctx.config.appUrl}/issue/${issue.code}2` }])
    await send({ title: issue.code, updated: later() })
    await postDueComments(app.ctx)
    app.clock.advance({ minutes: 5 })
    await postDueComments(app.ctx)
    expect(posted).toHaveLength(2)
    expect(await comment()).toBe('posted')
    const paths = receiver.take().map(({ method, path }) => `${method} ${path}`)
    expect(paths[1]).toMatch(/^GET .*\/issues\/7\/comments\?per_page=100&limit=100&since=2026-03-01T/)

    posted.length = 0
    comments = JSON.stringify([{ body: 'x'.repeat(1024 * 1024) }])
    await send({ number: 8, title: issue.code, updated: later() })
    await postDueComments(app.ctx)
    app.clock.advance({ minutes: 5 })
    await postDueComments(app.ctx)
    expect(posted).toHaveLength(1)
    expect(await comment()).toBe('failed')
  },
)

test(
  'a host that refuses is not asked again, one that fails five times',
  verifies('git.comment-once'),
  async ({ app, receiver }) => {
    const { send, issue, comment, later } = await scene(app, receiver, { token })
    for (const [number, status, attempts] of [
      [7, 403, 1],
      [8, 503, 5],
    ] as const) {
      receiver.answer = (response, { method }) => response.writeHead(method === 'GET' ? 200 : status).end('[]')
      await send({ number, title: issue.code, updated: later() })
      for (let run = 0; run < 8; run++) {
        await postDueComments(app.ctx)
        app.clock.advance({ minutes: 5 })
      }
      expect(receiver.take().filter(({ method }) => method === 'POST')).toHaveLength(attempts)
      expect(await comment()).toBe('failed')
    }
  },
)

test('private addresses are not contacted', verifies('git.comment-once'), async ({ startApp }) => {
  const app = await startApp({ BATON_WEBHOOK_ALLOW: 'allowed.example.com' })
  const server = createServer((_, response) => response.end())
  let contacted = 0
  server.on('connection', () => {
    contacted += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const { owner, connection, send, issue } = await gitScene(app)
    for (const host of [
      `http://localhost:${port}`,
      `127.0.0.1:${port}`,
      '10.0.0.1',
      '[::1]',
      'git.internal',
      '169.254.169.254',
    ]) {
      const change = await app.unchanged(() => owner.patch(`/git-connections/${connection.id}`, { host, token }))
      expect({ host, status: change.status }).toEqual({ host, status: 422 })
      expect(Object.keys(change.body.details)).toEqual(['host'])
    }
    // Without a token an internal host is fine: it sends, and Baton does not.
    expect((await owner.patch(`/git-connections/${connection.id}`, { host: 'git.internal' })).status).toBe(200)
    // A host that was permitted once.
    await owner.patch(`/git-connections/${connection.id}`, { host: 'github.com', token })
    await app.ctx.db.run(sql`update git_connections set host = ${`localhost:${port}`} where id = ${connection.id}`)
    await send({ title: issue.code })
    await postDueComments(app.ctx)
    const { body } = await owner.get(`/git-connections/${connection.id}/deliveries`)
    expect(body.data[0].comment).toBe('failed')
    expect(contacted).toBe(0)
  } finally {
    server.close()
  }
})
