import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished } from 'vitest'
import { type TestApp, type TestPerson, test } from '../../test/harness.ts'
import { withDatabase } from '../../test/postgres.ts'
import { change, inboxOf, mark, resync, watching } from '../../test/watch.ts'
import { createApp } from '../app.ts'
import { Db } from '../db/database.ts'
import { connectPostgres } from '../db/postgres.ts'
import { sql } from '../db/sql.ts'
import { sendHints } from './hint.ts'

const eventually = async (what: () => Promise<boolean>) => {
  while (!(await what())) await setImmediate()
}

describe.skipIf(!process.env.DATABASE_URL)('two processes on one database', () => {
  /** A second service on the database of `app`, as in another process. */
  async function another(app: TestApp, env = {}) {
    const [database] = await app.ctx.db.rows<{ name: string }>(sql`select current_database() as name`)
    const db = new Db(connectPostgres(withDatabase(process.env.DATABASE_URL as string, database?.name ?? ''), () => {}))
    const { http } = await createApp({ ...app.ctx, db, config: { ...app.ctx.config, ...env } }, { stopping: false })
    await http.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(async () => {
      await http.close()
      await db.close()
    })
    await eventually(async () => (await listeners(app)) === 2)
    return { rootUrl: `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`, db }
  }

  /** Resolves when the other process has received all earlier hints. */
  async function caughtUp(person: TestPerson, rootUrl: string) {
    const watch = await watching(person, { rootUrl })
    const marked = JSON.stringify(await mark(person))
    while (JSON.stringify(await watch.next()) !== marked);
    return watch
  }

  const listening = sql`datname = current_database() and query like 'listen %baton_live%' and state = 'idle'`
  const listeners = async ({ ctx }: TestApp) =>
    (await ctx.db.rows(sql`select pid from pg_stat_activity where ${listening}`)).length

  test('a change in one reaches the watchers of the other, once', async ({ startApp }) => {
    const app = await startApp()
    const { owner, member } = await app.workspace()
    const { rootUrl } = await another(app)
    const there = await caughtUp(owner, rootUrl)
    const [here, theirs] = [await watching(owner), await watching(member, { rootUrl })]
    const { id } = (await owner.post('/issues', { title: 'A bug', assignee_id: member.user.id })).body
    // Before it is read, because two hints of one inbox may be merged.
    expect(await theirs.take(2)).toEqual([change('Issue', id, 'create'), inboxOf(member)])
    await member.post('/inbox/read')
    const personal = (await owner.post('/issues', { title: 'Mine', personal: true })).body
    const marked = await mark(owner)
    const ours = [change('Issue', id, 'create'), change('Issue', personal.id, 'create'), marked]
    expect(await here.take(3)).toEqual(ours)
    expect(await there.take(3)).toEqual(ours)
    expect(await theirs.take(2)).toEqual([inboxOf(member), marked])
    const last = await mark(owner)
    for (const watch of [here, there, theirs]) expect(await watch.next()).toEqual(last)
  })

  test('a stream in one ends before the next event once access is lost in the other', async ({ startApp }) => {
    const app = await startApp()
    const { owner, admin, member } = await app.workspace()
    const { rootUrl } = await another(app)
    const stays = await caughtUp(owner, rootUrl)
    const lost = [await watching(admin, { rootUrl }), await watching(member, { rootUrl })]
    await member.post('/auth/sign-out')
    await owner.delete(`/workspaces/me/members/${admin.user.id}`)
    const marked = JSON.stringify(await mark(owner))
    for (const watch of lost) expect(await watch.next()).toBeUndefined()
    while (JSON.stringify(await stays.next()) !== marked);
  })

  test('a worker reaches the browsers of other processes', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { db } = await another(app, { role: 'worker' })
    const watch = await watching(owner)
    sendHints(db, [{ workspace_id: owner.workspaceId, type: 'Inbox', id: owner.user.id, action: 'update' }])
    expect(await watch.next()).toEqual(inboxOf(owner))
  })

  test('many changes at once all arrive, in several messages', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { rootUrl } = await another(app)
    const watch = await caughtUp(owner, rootUrl)
    const ids = Array.from({ length: 1000 }, (_, index) => `iss_${index}`.padEnd(150, 'ü'))
    for (const id of ids)
      sendHints(app.ctx.db, [{ workspace_id: owner.workspaceId, type: 'Issue', id, action: 'update' }])
    expect(await watch.take(ids.length)).toEqual(ids.map((id) => change('Issue', id, 'update')))
  })

  test('too many hints become a resync', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    const { rootUrl } = await another(app)
    const watch = await caughtUp(owner, rootUrl)
    const huge = 'x'.repeat(8000)
    sendHints(app.ctx.db, [{ workspace_id: owner.workspaceId, type: 'Issue', id: huge, action: 'update' }])
    expect(await watch.next()).toEqual(resync)
    for (let index = 0; index < 6000; index++)
      sendHints(app.ctx.db, [{ workspace_id: owner.workspaceId, type: 'Issue', id: `${index}`, action: 'update' }])
    // None was sent yet, and they are too many.
    expect(await watch.next()).toEqual(resync)
  })

  test('a lost LISTEN connection causes a resync', async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    await eventually(async () => (await listeners(app)) === 1)
    const watch = await watching(owner)
    await app.ctx.db.rows(sql`select pg_terminate_backend(pid) from pg_stat_activity where ${listening}`)
    expect(await watch.next()).toEqual(resync)
    const marked = await mark(owner)
    expect(await watch.next()).toEqual(marked)
  })
})
