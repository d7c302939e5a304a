import { expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { rowsOfWorkspace } from '../../test/workspace-rows.ts'
import { sql } from '../db/sql.ts'
import { advanceDeletions } from './purge.ts'

const start = { name: 'Acme' }

test(
  'three workers purge a workspace together, and its owner is mailed once',
  verifiesOnPostgres('export.deletion-purges', 'export.deletion-mails'),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const all = [app, await startApp(smtp.env, app), await startApp(smtp.env, app)]
    const { owner, id } = await app.workspace()
    await app.installed(owner)
    const issues = Array.from({ length: 500 }, (_, number) => ({ title: `Issue ${number}` }))
    for (let batch = 0; batch < 4; batch++) await done(owner.post('/issues/import', { issues }))
    await done(owner.post('/workspaces/me/deletion', start))
    app.clock.advance({ days: 14 })
    // The one that another worker keeps waiting gives up until its next run.
    for (let runs = 0; runs < 2; runs++) await Promise.all(all.map(({ ctx }) => advanceDeletions(ctx)))
    expect(await rowsOfWorkspace(app.ctx.db, id)).toEqual({})
    expect(await app.ctx.db.rows(sql`select 1 from workspaces where id = ${id}`)).toEqual([])
    await app.sendMails()
    const subjects = smtp.mails.map(({ parsed }) => parsed.subject)
    expect(subjects.filter((subject) => subject === 'Acme was deleted')).toHaveLength(1)
  },
)

test(
  'a cancel and the begin of the purge exclude each other',
  verifiesOnPostgres('export.deletion-canceled'),
  async ({ startApp }) => {
    const app = await startApp()
    for (let round = 0; round < 5; round++) {
      const { owner, id } = await app.workspace()
      await done(owner.post('/issues', { title: 'One' }))
      await done(owner.post('/workspaces/me/deletion', start))
      app.clock.advance({ days: 14 })
      const [canceled] = await Promise.all([owner.delete('/workspaces/me/deletion'), advanceDeletions(app.ctx)])
      // One that the request keeps waiting gives up until its next run.
      await advanceDeletions(app.ctx)
      const left = await app.ctx.db.rows(sql`select 1 from workspaces where id = ${id}`)
      if (left.length === 1) {
        expect(canceled.status).toBe(204)
        expect((await owner.get('/workspaces/me')).body).toMatchObject({ deletion_at: null })
        expect((await owner.get('/issues')).body.data).toHaveLength(1)
      } else {
        expect([403, 404]).toContain(canceled.status)
        expect(await rowsOfWorkspace(app.ctx.db, id)).toEqual({})
      }
    }
  },
)
