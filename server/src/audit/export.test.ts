import { describe, expect, test as plain } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { csvCell } from '../http/csv.ts'
import { newId } from '../ids.ts'

const lines = (text: string) => text.split(/\r?\n/).filter(Boolean)

describe('exporting the audit log', () => {
  test('streams every entry of the period, oldest first', verifies('audit.export'), async ({ app }) => {
    const { owner, member } = await app.workspace()
    const start = app.clock.now().toISOString()
    app.clock.advance({ hours: 1 })
    await owner.patch('/workspaces/me', { guidance: 'A rule' })
    // More than one batch of the export.
    const copies = Array.from({ length: 1099 }, () => newId('aud'))
    await app.ctx.db.run(sql`
      insert into audit_entries (id, workspace_id, action, actor_id, subject_id, details, created_at)
      select copy, workspace_id, action, actor_id, subject_id, details, created_at
      from audit_entries, unnest(${copies}::text[]) copy
      where workspace_id = ${owner.workspaceId} and action = 'workspace.updated'`)
    const { status, body: text, headers } = await owner.get('/audit-log/export')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    const entries = lines(text).map((line) => JSON.parse(line))
    const listed = (await owner.get('/audit-log?limit=100')).body.data
    expect(entries.slice(-100).reverse()).toEqual(listed)
    expect(entries.filter(({ action }) => action === 'workspace.updated')).toHaveLength(1100)
    const early = lines((await owner.get(`/audit-log/export?to=${start}`)).body)
    expect(early).toHaveLength(entries.length - 1100)

    const day = 24 * 3_600_000
    const before = (days: number, more = 0) => new Date(app.clock.now().getTime() - days * day - more).toISOString()
    expect((await owner.get(`/audit-log/export?from=${before(366)}`)).status).toBe(200)
    for (const query of [
      `from=${before(366, 1)}`,
      `from=${before(0)}&to=${before(1)}`,
      'from=yesterday',
      'format=xml',
    ]) {
      expect(await owner.get(`/audit-log/export?${query}`)).toMatchObject({ status: 422 })
    }
    expect(await member.get('/audit-log/export')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const robot = await app.installed(owner)
    expect((await robot.get('/audit-log/export')).body.code).toBe('SESSION_ONLY_ROUTE')
  })

  test('writes CSV that no spreadsheet runs as a formula', verifies('audit.export-csv-safe'), async ({ app }) => {
    const { owner } = await app.workspace()
    await owner.post('/teams', { name: '=1+1, "x"', key: 'ENG' })
    const { body: text, headers } = await owner.get('/audit-log/export?format=csv')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="audit-log-.*\.csv"$/)
    const [head, ...rows] = lines(text)
    expect(head).toBe('id,created_at,action,actor_id,actor_name,subject_id,details')
    expect(rows.at(-1)).toContain('""name"":""=1+1, \\""x\\""""}"')
  })

  plain.for(['=', '+', '-', '@', '\t', '\r'])('a cell that begins with %j gets an apostrophe', (start) => {
    expect(csvCell(`${start}1`).replace(/^"/, '')).toMatch(/^'/)
    expect(csvCell(`1${start}`)).not.toMatch(/^"?'/)
  })

  test('allows six exports an hour and workspace', verifies('audit.export-limit'), async ({ app }) => {
    const { owner, admin } = await app.workspace()
    const { owner: other } = await app.workspace()
    for (const by of [owner, admin, owner, admin, owner, admin]) {
      expect((await by.get('/audit-log/export')).status).toBe(200)
    }
    const refused = await owner.get('/audit-log/export')
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await other.get('/audit-log/export')).status).toBe(200)
    // None is restored before the hour is over.
    app.clock.advance({ minutes: 59 })
    expect((await owner.get('/audit-log/export')).status).toBe(429)
    app.clock.advance({ minutes: 1 })
    expect((await owner.get('/audit-log/export')).status).toBe(200)
  })
})

test('lists the entries of one person', async ({ app }) => {
  const { owner, admin } = await app.workspace()
  await admin.post('/teams', { name: 'Engineering', key: 'ENG' })
  const { data } = (await owner.get(`/audit-log?actor_id=${admin.user.id}`)).body
  expect(data.length).toBeGreaterThan(0)
  expect(new Set(data.map(({ actor }: { actor: { id: string } }) => actor.id))).toEqual(new Set([admin.user.id]))
})

test('says what changed, with long values cut', async ({ app }) => {
  const { owner } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  await owner.patch(`/teams/${team.id}`, { name: 'Engine room', guidance: 'x'.repeat(1000) })
  const [entry] = (await owner.get('/audit-log?action=team.updated')).body.data
  expect(entry.details).toEqual({
    fields: ['name', 'guidance'],
    changes: {
      name: { from: 'Engineering', to: 'Engine room' },
      guidance: { from: '', to: `${'x'.repeat(300)}…` },
    },
  })
})
