import { describe, expect } from 'vitest'
import { type TestApp, type TestWorkspace, test } from '../../test/harness.ts'
import { mark, Watch, watching } from '../../test/watch.ts'

/** Ways in which the member of a workspace loses the access with which they opened a stream. */
const losses: Record<string, (app: TestApp, workspace: TestWorkspace) => Promise<{ status: number }>> = {
  'signed out': (_app, { member }) => member.post('/auth/sign-out'),
  'removed from the workspace': (_app, { owner, member }) => owner.delete(`/workspaces/me/members/${member.user.id}`),
  'given another role': (_app, { owner, member }) =>
    owner.patch(`/workspaces/me/members/${member.user.id}`, { role: 'admin' }),
  'signed out by a new password': async (app, { member }) => {
    const { email } = member.user
    const { body } = await app.anonymous.post('/auth/sign-in', { email, password: member.password })
    const elsewhere = app.anonymous.with({ authorization: `Bearer ${body.token}` })
    return elsewhere.post('/auth/password', { current_password: member.password, new_password: 'another horse' })
  },
}

/** A delegated issue and the path of its session. */
async function delegated(app: TestApp, { owner }: TestWorkspace) {
  const webhook = 'https://robots.example.com/hook'
  const robot = await app.installed(owner, { scopes: ['app:assignable'], webhook })
  const issue = (await owner.post('/issues', { title: 'Fix it', delegate_id: robot.userId })).body
  const path = `/agent-sessions/${(await owner.get(`/agent-sessions?issue_id=${issue.id}`)).body.data[0].id}`
  const think = (body: string) => robot.post(`${path}/activities`, { content: { type: 'thought', body } })
  return { issue, path, think }
}

/** Everything that was sent until the end. */
async function rest(watch: Watch) {
  const received: unknown[] = []
  for (let event = await watch.next(); event; event = await watch.next()) received.push(event)
  return JSON.stringify(received)
}

describe.each(Object.entries(losses))('a member who is %s', (_name, lose) => {
  test('gets no further event of the workspace, without waiting for a heartbeat', async ({ app }) => {
    const workspace = await app.workspace()
    const [lost, stays] = [await watching(workspace.member), await watching(workspace.owner)]
    expect((await lose(app, workspace)).status).toBeLessThan(300)
    const marked = await mark(workspace.owner)
    expect(await rest(lost)).toBe('[]')
    expect(lost.end).toBe('whole')
    let event = await stays.next()
    while (JSON.stringify(event) !== JSON.stringify(marked)) event = await stays.next()
  })

  test('gets no further activity of a session', async ({ app }) => {
    const workspace = await app.workspace()
    const { path, think } = await delegated(app, workspace)
    const watch = await Watch.as(workspace.member, { path: `${path}/stream` })
    expect(await watch.next()).toMatchObject({ event: 'session' })
    await think('Public')
    while (!JSON.stringify(await watch.next()).includes('Public'));
    expect((await lose(app, workspace)).status).toBeLessThan(300)
    await think('Confidential')
    expect(await rest(watch)).not.toMatch(/Confidential|"session"/)
    expect(watch.end).toBe('whole')
  })
})

test('an activity written while a slow reader is behind is not sent after they signed out', async ({ startApp }) => {
  const app = await startApp({ BATON_SESSION_RATE: '1000' })
  const workspace = await app.workspace()
  const { path, think } = await delegated(app, workspace)
  const watch = await Watch.as(workspace.member, { path: `${path}/stream` })
  expect(await watch.next()).toMatchObject({ event: 'session' })
  watch.stopReading()
  for (let n = 0; n < 150; n++) await think('x'.repeat(31_000))
  await workspace.member.post('/auth/sign-out')
  await think('Confidential')
  watch.resumeReading()
  expect(await rest(watch)).not.toContain('Confidential')
})

test('one statement confirms all streams that a change concerns', async ({ startApp }) => {
  const app = await startApp()
  const { owner, member } = await app.workspace()
  const watches = await Promise.all(
    Array.from({ length: 40 }, (_, index) => watching(index % 2 === 0 ? owner : member)),
  )
  let statements = 0
  const { rows } = app.ctx.db
  app.ctx.db.rows = (statement) => {
    if (statement.text.includes('as asked (hash')) statements++
    return rows.call(app.ctx.db, statement) as never
  }
  const marked = await mark(owner)
  for (const watch of watches) expect(await watch.next()).toEqual(marked)
  expect(statements).toBe(1)
})

test('a stream ends when the database cannot confirm access', async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  const watch = await watching(owner)
  const { rows } = app.ctx.db
  app.ctx.db.rows = (statement) =>
    statement.text.includes('as asked (hash')
      ? Promise.reject(new Error('gone'))
      : (rows.call(app.ctx.db, statement) as never)
  await mark(owner)
  expect(await rest(watch)).toBe('[]')
  app.ctx.db.rows = rows
  const again = await watching(owner)
  const marked = await mark(owner)
  expect(await again.next()).toEqual(marked)
})
