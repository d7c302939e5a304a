import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { serve } from '../../test/fetching.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { linearCsv, linearRow, preview, problemsOf, upload } from '../../test/imports.ts'
import { sql } from '../db/sql.ts'
import { workOnImport } from './run.ts'

/** An import whose source allows no request for an hour, and the work that waits for it. */
async function waiting(app: TestApp, owner: TestPerson) {
  const { url, requests } = await serve((_, response) => {
    response.writeHead(requests.length === 1 ? 429 : 200, { 'retry-after': '3600', 'content-type': 'application/json' })
    response.end('[]')
  })
  const { body } = await owner.post('/imports', { source: 'github', key: 'secret', repository: 'a/b', url })
  await owner.post(`/imports/${body.id}/read`)
  const work = app.workOnImports()
  while (requests.length === 0 || app.clock.waiting !== 2) await turn()
  const state = async () => (await owner.get(`/imports/${body.id}`)).body.state
  return { id: body.id as string, work, state, requests }
}

/** Lets a renewal that is due happen. */
async function advance(app: TestApp, id: string, seconds: number) {
  const until = () => app.ctx.db.row<{ at: string }>(sql`select claimed_until as at from imports where id = ${id}`)
  const before = await until()
  app.clock.advance({ seconds })
  while ((await until())?.at === before?.at) await turn()
}

test('a worker that waits for the source keeps the import', verifies('import.linear-api'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { id, work, state, requests } = await waiting(app, owner)
  for (let passed = 0; passed < 60; passed += 10) await advance(app, id, 10)
  expect(await workOnImport(app.ctx, new AbortController().signal)).toBe(false)
  expect([await state(), requests.length]).toEqual(['reading', 1])
  app.clock.advance({ hours: 1 })
  await work
  expect([await state(), requests.length]).toEqual(['ready', 3])
})

test('an import that waits for the source can be canceled', verifies('import.cancel'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { id, work, state, requests } = await waiting(app, owner)
  expect((await owner.post(`/imports/${id}/cancel`)).status).toBe(200)
  app.clock.advance({ seconds: 10 })
  await work
  expect([await state(), requests.length]).toEqual(['canceled', 1])
  expect(await app.ctx.db.row(sql`select key from imports where id = ${id}`)).toEqual({ key: null })
})

test('an import at which three workers died fails', verifies('import.crash-resumes'), async ({ app }) => {
  const { owner } = await app.workspace()
  const id = await upload(owner, 'linear', linearCsv([linearRow()]))
  const afterDeaths = async (deaths: number) => {
    await owner.post(`/imports/${id}/read`)
    // As a worker leaves it that is killed, for example because the memory was full.
    await app.ctx.db.run(sql`
      update imports set attempts = ${deaths}, claim = 'dead', claimed_until = ${app.clock.now()} where id = ${id}`)
    app.clock.advance({ seconds: 1 })
    await app.workOnImports()
    return (await owner.get(`/imports/${id}`)).body.state
  }
  expect(await afterDeaths(2)).toBe('ready')
  expect(await afterDeaths(3)).toBe('failed')
  expect(await problemsOf(owner, id)).toMatchObject([{ message: expect.stringContaining('stopped the import') }])
  expect((await preview(app, owner, id)).state).toBe('ready')
})
