import { once } from 'node:events'
import { connect as openSocket } from 'node:net'
import { programLimits } from '@baton/protocol'
import { expect } from 'vitest'
import { connect, deliver, gitlabKey, gitScene, hmac, mergeRequest, pullRequest, signed } from '../../test/git.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const refused = { status: 401, body: { code: 'UNAUTHORIZED' } }
const accepted = { status: 202, body: { outcome: 'no_code' } }

const sendRaw = (app: TestApp, id: string, raw: string | Uint8Array, headers: Record<string, string>) =>
  app.anonymous.postRoot(`/hooks/git/${id}`, undefined, { raw, headers })

/** Expects 401 and that only the counter of the connection changed. */
async function expectRefused(app: TestApp, id: string, work: () => Promise<unknown>) {
  const withoutCounter = async () =>
    JSON.stringify(
      JSON.parse(await app.everything()).map(({ name, row }: { name: string; row: string }) =>
        name === 'git_connections' ? [name, row.replace(/"refused": \d+/, '')] : [name, row],
      ),
    )
  const counter = async () =>
    (await app.ctx.db.row<{ refused: number }>(sql`select refused from git_connections where id = ${id}`))?.refused ?? 0
  const [before, count] = [await withoutCounter(), await counter()]
  const response = await work()
  expect(response).toMatchObject(refused)
  expect(await withoutCounter()).toBe(before)
  expect(await counter()).toBe(count + 1)
  return response
}

test(
  'GitHub: only the exact bytes with the secret of the connection are accepted',
  verifies('git.github-signature'),
  async ({ app }) => {
    const { owner, connection } = await gitScene(app)
    const other = await connect(owner)
    const raw = JSON.stringify(pullRequest())
    const good = signed('github', connection.secret, raw)
    const signature = good['x-hub-signature-256'] as string
    const { 'x-hub-signature-256': _, ...without } = good
    const wrong: [string, Record<string, string>][] = [
      [`${raw} `, good],
      [raw.replace('Oil', 'oil'), good],
      [raw, signed('github', other.secret, raw)],
      [raw, without],
      [raw, { ...good, 'x-hub-signature-256': '' }],
      [raw, { ...good, 'x-hub-signature-256': signature.replace('sha256=', '') }],
      [raw, { ...good, 'x-hub-signature-256': signature.slice(0, -1) }],
      [raw, { ...good, 'x-hub-signature-256': `${signature}0` }],
      [raw, { ...good, 'x-hub-signature-256': 'sha256=zz' }],
      [raw, { ...without, 'x-hub-signature': `sha1=${'0'.repeat(40)}` }],
    ]
    for (const [body, headers] of wrong) {
      await expectRefused(app, connection.id, () => sendRaw(app, connection.id, body, headers))
    }
    expect(await sendRaw(app, connection.id, raw, good)).toMatchObject(accepted)
  },
)

test(
  'GitLab: a signature needs to be valid and recent, whatever the token',
  verifies('git.gitlab-signature'),
  async ({ app }) => {
    const { owner } = await gitScene(app)
    const connection = await connect(owner, { kind: 'gitlab' })
    const { id, secret } = connection
    const now = app.clock.now()
    const headersAt = (seconds: number, raw: string) =>
      signed('gitlab', secret, raw, undefined, new Date(now.getTime() + seconds * 1000))
    const body = (iid: number) => JSON.stringify(mergeRequest({ iid }))
    const token = { 'x-gitlab-token': secret }
    const good = headersAt(0, body(1))
    const keyedWithText = hmac(secret, `msg_1.${good['webhook-timestamp']}.`, body(1)).toString('base64')
    for (const headers of [
      { ...good, ...token, 'webhook-signature': `v1,${'A'.repeat(43)}=` },
      { ...good, ...token, 'webhook-signature': '' },
      { ...good, ...token, 'webhook-signature': `v1,${keyedWithText}` },
      { ...good, ...token, 'webhook-id': 'msg_2' },
      { ...headersAt(-301, body(1)), ...token },
      { ...headersAt(301, body(1)), ...token },
      { ...good, 'webhook-timestamp': 'now' },
      { 'x-gitlab-event': 'Merge Request Hook', 'x-gitlab-token': `${secret}x` },
      { 'x-gitlab-event': 'Merge Request Hook', 'x-gitlab-token': '' },
      { 'x-gitlab-event': 'Merge Request Hook' },
    ]) {
      await expectRefused(app, id, () => sendRaw(app, id, body(1), headers as Record<string, string>))
    }
    expect(await sendRaw(app, id, body(1), good as Record<string, string>)).toMatchObject(accepted)
    for (const [iid, seconds] of [
      [2, -300],
      [3, 300],
    ] as const) {
      expect(await sendRaw(app, id, body(iid), headersAt(seconds, body(iid)) as Record<string, string>)).toMatchObject(
        accepted,
      )
    }
    // One of several signatures, as during a rotation at GitLab.
    const two = headersAt(0, body(4))
    const several = { ...two, 'webhook-signature': `v1,${'A'.repeat(43)}= ${two['webhook-signature']}` }
    expect(await sendRaw(app, id, body(4), several as Record<string, string>)).toMatchObject(accepted)
    const event = { 'x-gitlab-event': 'Merge Request Hook' }
    expect(await sendRaw(app, id, body(5), { ...event, ...token })).toMatchObject(accepted)
    expect(gitlabKey(secret)).toHaveLength(32)
  },
)

test('Gitea and Forgejo: a wrong X-Forgejo-Signature is refused even beside a valid X-Gitea-Signature', {
  ...verifies('git.gitea-signature'),
}, async ({ app }) => {
  const { owner } = await gitScene(app)
  for (const kind of ['gitea', 'forgejo'] as const) {
    const { id, secret } = await connect(owner, { kind })
    const raw = JSON.stringify(pullRequest())
    const good = signed('forgejo', secret, raw) as Record<string, string>
    await expectRefused(app, id, () => sendRaw(app, id, raw, { ...good, 'x-forgejo-signature': '0'.repeat(64) }))
    await expectRefused(app, id, () => sendRaw(app, id, `${raw}\n`, good))
    await expectRefused(app, id, () => sendRaw(app, id, raw, { 'x-gitea-event': 'pull_request' }))
    expect(await sendRaw(app, id, raw, good)).toMatchObject(accepted)
    const second = JSON.stringify(pullRequest({ number: 8 }))
    const gitea = signed('gitea', secret, second) as Record<string, string>
    expect(await sendRaw(app, id, second, gitea)).toMatchObject(accepted)
  }
})

test(
  'an unknown connection and an invalid signature give the same answer',
  verifies('git.unknown-connection-same-401'),
  async ({ app }) => {
    const { connection, owner } = await gitScene(app)
    const raw = JSON.stringify(pullRequest())
    const headers = signed('github', 'whsec_wrong', raw) as Record<string, string>
    const invalid = (await expectRefused(app, connection.id, () =>
      sendRaw(app, connection.id, raw, headers),
    )) as Awaited<ReturnType<typeof sendRaw>>
    for (const id of ['gcn_01k9b3n5q7s9v1x3z5a7c9e1g3', 'nonsense', "'--"]) {
      const unknown = await app.unchanged(() => sendRaw(app, id, raw, headers))
      expect({ status: unknown.status, body: unknown.body }).toEqual({ status: invalid.status, body: invalid.body })
      const names = (one: typeof unknown) => [...one.headers.keys()].sort()
      expect(names(unknown)).toEqual(names(invalid))
    }
    const { body } = await owner.get(`/git-connections/${connection.id}`)
    expect(body).toMatchObject({ refused: 1, received_at: null })
    expect((await owner.get(`/git-connections/${connection.id}/deliveries`)).body.data).toEqual([])
  },
)

test('a body over 5 MB is refused before it is read completely', verifies('git.size-and-rate'), async ({ app }) => {
  const { connection } = await gitScene(app)
  const padded = (bytes: number) => {
    const empty = JSON.stringify({ ...pullRequest(), padding: '' })
    return JSON.stringify({ ...pullRequest(), padding: 'x'.repeat(bytes - Buffer.byteLength(empty)) })
  }
  const over = padded(programLimits.gitHookBytes + 1)
  const headers = signed('github', connection.secret, over) as Record<string, string>
  const large = await app.unchanged(() => sendRaw(app, connection.id, over, headers))
  expect(large).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } })

  // Announces more than it sends: the answer comes without the rest.
  const socket = openSocket(Number(new URL(app.rootUrl).port), '127.0.0.1')
  socket.write(
    `POST /hooks/git/${connection.id} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${programLimits.gitHookBytes + 1}\r\n\r\n{`,
  )
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /)
  socket.destroy()

  const full = padded(programLimits.gitHookBytes)
  expect(full).toHaveLength(programLimits.gitHookBytes)
  const fits = await sendRaw(
    app,
    connection.id,
    full,
    signed('github', connection.secret, full) as Record<string, string>,
  )
  expect(fits).toMatchObject(accepted)
})

/** As if all but one of the minute's requests had been made. */
const useAllButOne = (app: TestApp, key: string) => {
  const stepMs = 60_000 / programLimits.gitHooksPerMinute
  const clearAt = app.clock.now().getTime() + (programLimits.gitHooksPerMinute - 1) * stepMs
  return app.ctx.db.run(sql`update rate_limits set clear_at = ${clearAt} where key like ${key}`)
}

test('a connection accepts 600 requests a minute', verifies('git.size-and-rate'), async ({ app }) => {
  const { connection, owner } = await gitScene(app)
  const other = await connect(owner)
  const ping = (one = connection) => deliver(app.anonymous, one, { zen: 'Keep it simple.' }, 'ping')
  expect((await ping()).status).toBe(202)
  await useAllButOne(app, `git ${connection.id}`)
  expect((await ping()).status).toBe(202)
  const limited = await app.unchanged(() => ping())
  expect(limited).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
  expect(limited.headers.get('retry-after')).toBe('1')
  expect((await ping(other)).status).toBe(202)
  app.clock.advance({ milliseconds: 100 })
  expect((await ping()).status).toBe(202)
})

test(
  'requests with an invalid signature do not use the allowance of the connection',
  verifies('git.size-and-rate'),
  async ({ app }) => {
    const { connection } = await gitScene(app)
    const raw = JSON.stringify(pullRequest())
    const wrong = () => sendRaw(app, connection.id, raw, { 'x-github-event': 'pull_request' })
    expect((await wrong()).status).toBe(401)
    await useAllButOne(app, 'git refused %')
    expect((await wrong()).status).toBe(401)
    expect((await app.unchanged(wrong)).status).toBe(429)
    expect(await deliver(app.anonymous, connection, pullRequest())).toMatchObject(accepted)
  },
)
