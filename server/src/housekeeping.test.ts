import pino from 'pino'
import { expect } from 'vitest'
import { test } from '../test/harness.ts'
import { sql } from './db/sql.ts'
import { sweep } from './housekeeping.ts'

test('logs a failed chore and runs the others', async ({ startApp }) => {
  const app = await startApp()
  await app.workspace()
  const { db } = app.ctx
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line) => lines.push(line) })
  await db.run(sql`alter table rate_limits rename to elsewhere`)
  app.clock.advance({ days: 40 })
  await sweep({ ...app.ctx, log })
  await db.run(sql`alter table elsewhere rename to rate_limits`)
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ chore: 'rate limits', msg: 'housekeeping failed' }])
  expect(await db.rows(sql`select 1 from logins`)).toEqual([])
})

test('deletes expired rows and nothing else', async ({ startApp }) => {
  const app = await startApp()
  const { owner } = await app.workspace()
  const signInWrongly = () => app.anonymous.post('/auth/sign-in', { email: 'a@b.example', password: 'wrong' })
  const count = async () => {
    const tables = await app.ctx.db.row<Record<string, number>>(sql`
      select (select count(*) from logins) as logins, (select count(*) from rate_limits) as limits,
        (select count(*) from invitations) as invitations`)
    return tables
  }
  await owner.post('/workspaces/me/invitations', { email: 'new@example.com', role: 'member' })
  await signInWrongly()
  await sweep(app.ctx)
  expect(await count()).toEqual({ logins: 3, limits: 3, invitations: 1 })

  app.clock.advance({ days: 7 })
  await sweep(app.ctx)
  expect(await count()).toEqual({ logins: 3, limits: 0, invitations: 0 })

  app.clock.advance({ days: 20 })
  expect((await owner.get('/auth/me')).status).toBe(200)
  app.clock.advance({ days: 4 })
  await sweep(app.ctx)
  expect(await count()).toEqual({ logins: 1, limits: 0, invitations: 0 })
  expect((await owner.get('/auth/me')).status).toBe(200)
})
