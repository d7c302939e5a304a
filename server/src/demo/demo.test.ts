import { expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { createDemo, demoLogin } from './create.ts'

const signIn = async (app: TestApp) => {
  const { body } = await app.nobody.post('/auth/sign-in', demoLogin)
  const person = app.nobody.with({ authorization: `Bearer ${body.token}` })
  const [workspace] = (await person.get('/auth/me')).body.workspaces
  return person.with({ 'x-workspace-id': workspace.id })
}

test('an empty database becomes a company at work', verifies('config.demo-on-empty-database'), async ({ startApp }) => {
  const app = await startApp()
  expect(await createDemo(app.ctx)).toBe(true)
  const ada = await signIn(app)
  expect((await ada.get('/workspaces/me/members')).body.data).toHaveLength(5)
  expect((await ada.get('/teams')).body.data.map(({ key }: { key: string }) => key).sort()).toEqual([
    'DES',
    'ENG',
    'SUP',
  ])
  const { data: projects } = (await ada.get('/projects')).body
  expect(projects).toHaveLength(2)
  for (const { progress, member_ids } of projects) expect(progress !== null && member_ids.length > 0).toBe(true)

  const { data: issues } = (await ada.get('/issues?limit=100')).body
  expect(issues.length).toBeGreaterThanOrEqual(60)
  const some = (field: string) => issues.filter((issue: Record<string, unknown[]>) => issue[field]?.length).length
  expect(some('blocks_ids')).toBe(5)
  expect(some('label_ids')).toBeGreaterThan(20)
  expect(some('parent_id')).toBeGreaterThan(3)
  expect(new Set(issues.map(({ status }: { status: string }) => status)).size).toBe(6)
  const [pause] = (await ada.get('/issues?query=pause+a+subscription+from')).body.data
  const { data: thread } = (await ada.get(`/comments?target_type=issue&target_id=${pause.id}`)).body
  expect(thread.map((comment: { parent_comment_id: string }) => comment.parent_comment_id)).toEqual([
    null,
    thread[0].id,
    thread[0].id,
  ])
  const spread = app.clock.now().getTime() - Date.parse(issues.at(-1).created_at)
  expect(spread).toBeGreaterThan(30 * 24 * 3_600_000)
  expect(issues.every(({ created_at }: { created_at: string }) => created_at <= app.clock.now().toISOString())).toBe(
    true,
  )
})

test('a database that is in use is left alone', verifies('config.demo-not-on-used-database'), async ({ startApp }) => {
  const app = await startApp()
  await app.person()
  await app.unchanged(async () => expect(await createDemo(app.ctx)).toBe(false))

  const again = await startApp()
  await createDemo(again.ctx)
  await again.unchanged(async () => expect(await createDemo(again.ctx)).toBe(false))
})

test('a demo that was cut off half-way is made anew', async ({ startApp }) => {
  const app = await startApp()
  await createDemo(app.ctx)
  await app.ctx.db.run(sql`update settings set value = 'started' where name = 'demo'`)
  expect(await createDemo(app.ctx)).toBe(true)
  expect(await app.ctx.db.rows(sql`select 1 from workspaces`)).toHaveLength(1)
  expect(await app.ctx.db.rows(sql`select 1 from users`)).toHaveLength(5)
})
