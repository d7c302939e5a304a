import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import {
  csv,
  importAll,
  issueCalled,
  issuesOf,
  linearCsv,
  linearRow,
  preview,
  problemsOf,
  start,
  upload,
} from '../../test/imports.ts'
import { sql } from '../db/sql.ts'

describe('who may import', () => {
  test('members and tokens are refused', verifies('import.managers-only'), async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const id = await upload(admin, 'linear', linearCsv([linearRow()]))
    const robot = await app.installed(owner)
    const { body: token } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'] })
    const script = app.anonymous.with({ authorization: `Bearer ${token.token}`, 'x-workspace-id': owner.workspaceId })
    const calls = [
      ['GET', '/imports'],
      ['POST', '/imports', { source: 'csv' }],
      ['GET', `/imports/${id}`],
      ['PATCH', `/imports/${id}`, { mapping: { keep_codes: true } }],
      ['DELETE', `/imports/${id}`],
      ['POST', `/imports/${id}/files?name=a`],
      ['POST', `/imports/${id}/read`],
      ['POST', `/imports/${id}/start`],
      ['POST', `/imports/${id}/cancel`],
      ['GET', `/imports/${id}/problems`],
      ['GET', '/placeholders'],
      ['POST', `/placeholders/${member.user.id}/assign`, { user_id: member.user.id }],
    ] as const
    await app.unchanged(async () => {
      for (const [method, path, body] of calls) {
        const options = path.includes('/files') ? { raw: 'a,b' } : {}
        expect(await member.request(method, path, body, options)).toMatchObject({
          status: 403,
          body: { code: 'FORBIDDEN' },
        })
        for (const client of [robot, script]) {
          const refused = { status: 403, body: { code: 'SESSION_ONLY_ROUTE' } }
          expect(await client.request(method, path, body, options)).toMatchObject(refused)
        }
      }
    })
    expect((await owner.get(`/imports/${id}`)).status).toBe(200)
  })

  test('an import of another workspace is not found', verifies('import.managers-only'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { owner: stranger } = await app.workspace()
    const id = await upload(owner, 'linear', linearCsv([linearRow()]))
    await app.unchanged(async () => {
      for (const path of ['read', 'start', 'cancel'])
        expect((await stranger.post(`/imports/${id}/${path}`)).status).toBe(404)
      expect((await stranger.get(`/imports/${id}/problems`)).status).toBe(404)
      expect((await stranger.delete(`/imports/${id}`)).status).toBe(404)
    })
  })
})

describe('a preview', () => {
  test('writes nothing but itself', verifies('import.preview-writes-nothing'), async ({ app }) => {
    const { owner, id: workspaceId } = await app.workspace()
    const id = await upload(owner, 'linear', linearCsv([linearRow({ Labels: 'New label', Project: 'Door' })]))
    const rows = async () =>
      JSON.parse(await app.everything()).filter(({ name }: { name: string }) => !/^import/.test(name))
    const before = await rows()
    const read = await preview(app, owner, id)
    expect(read).toMatchObject({ state: 'ready', counts: { issues: { created: 1 }, labels: { created: 1 } } })
    expect(await rows()).toEqual(before)
    expect(await issuesOf(owner)).toEqual([])
    const placeholders = await app.ctx.db.rows(sql`select 1 from users where placeholder_in = ${workspaceId}`)
    expect(placeholders).toEqual([])
  })

  test('has the counts and problems of the run', verifies('import.preview-equals-run'), async ({ app }) => {
    const { owner, member } = await app.workspace()
    await owner.post('/labels', { name: 'backend' })
    const parent = linearRow({ Labels: 'Backend, Urgent', Project: 'Door', 'Project Milestone': 'Alpha' })
    const rows = [
      linearRow({ 'Parent issue': parent.ID as string, Assignee: member.user.email, 'Cycle Number': '3' }),
      parent,
      linearRow({ Status: 'Waiting for Godot', Priority: 'Immense', Estimate: '5' }),
      linearRow({ Status: 'Canceled', 'Parent issue': 'WEB-99999', Blocks: parent.ID as string }),
      linearRow({ Title: 'x'.repeat(300), 'Related to': parent.ID as string }),
      { ...parent, Title: 'Again' },
    ]
    const id = await upload(owner, 'linear', linearCsv(rows))
    const read = await preview(app, owner, id)
    const foreseen = await problemsOf(owner, id)
    const done = await start(app, owner, id)
    expect(done.counts).toEqual(read.counts)
    expect(done.problem_count).toBe(read.problem_count)
    expect(await problemsOf(owner, id)).toEqual(foreseen)
    expect(foreseen.length).toBe(read.problem_count)
    expect(read.counts).toMatchObject({
      teams: { created: 1 },
      users: { created: 1, unchanged: 1 },
      labels: { created: 2, unchanged: 1 },
      projects: { created: 1 },
      milestones: { created: 1 },
      cycles: { created: 1 },
      issues: { created: 5, skipped: 1 },
      relations: { created: 2, skipped: 1 },
    })
    expect(foreseen.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['id', 'status', 'priority', 'title', 'parent', 'related']),
    )
    // The same holds for a second run, which finds everything.
    const second = await upload(owner, 'linear', linearCsv(rows))
    const again = await preview(app, owner, second)
    expect((await start(app, owner, second)).counts).toEqual(again.counts)
    expect(again.counts.issues).toMatchObject({ created: 0, unchanged: 5 })
  })
})

describe('the mapping', () => {
  test('a CSV needs a column for the title and a team', verifies('import.csv-mapping'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const id = await upload(owner, 'csv', csv(['Was', 'Wann', 'Wie'], ['Oil the hinges', '2026-12-24', 'dringend']))
    const read = await preview(app, owner, id)
    expect(read).toMatchObject({ state: 'ready', columns: ['Was', 'Wann', 'Wie'] })
    await app.unchanged(async () => {
      const refused = await owner.post(`/imports/${id}/start`)
      expect(refused).toMatchObject({ status: 422, body: { details: { 'mapping.columns.title': expect.any(String) } } })
    })
    const columns = { title: 0, due: 1, priority: 2 }
    await preview(app, owner, id, { columns })
    await app.unchanged(async () => {
      const refused = await owner.post(`/imports/${id}/start`)
      expect(refused).toMatchObject({
        status: 422,
        body: { details: { 'mapping.default_team_id': expect.any(String) } },
      })
    })
    const mapped = await preview(app, owner, id, { default_team_id: team.id, priorities: { dringend: 'urgent' } })
    expect(mapped).toMatchObject({ counts: { issues: { created: 1 } }, problem_count: 0 })
    await start(app, owner, id)
    expect(await issuesOf(owner)).toMatchObject([
      {
        title: 'Oil the hinges',
        due_date: '2026-12-24T00:00:00.000Z',
        priority: 'urgent',
        team_id: team.id,
        code: 'ENG-1',
      },
    ])
  })

  test(
    'refuses ids of other workspaces and columns that do not exist',
    verifies('import.csv-mapping'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const { owner: stranger } = await app.workspace()
      const { body: theirs } = await stranger.post('/teams', { name: 'Theirs', key: 'THE' })
      const id = await upload(owner, 'csv', csv(['Title'], ['One']))
      await preview(app, owner, id)
      const mappings = [
        [{ default_team_id: theirs.id }, 'mapping.default_team_id'],
        [{ teams: { Web: theirs.id } }, 'mapping.teams.Web'],
        [{ users: { Ada: stranger.user.id } }, 'mapping.users.Ada'],
        [{ columns: { status: 1 } }, 'mapping.columns.status'],
      ] as const
      await app.unchanged(async () => {
        for (const [mapping, field] of mappings) {
          const refused = await owner.patch(`/imports/${id}`, { mapping })
          expect(refused).toMatchObject({ status: 422, body: { details: { [field]: expect.any(String) } } })
        }
      })
      expect((await owner.patch(`/imports/${id}`, { mapping: { columns: { status: 0 } } })).status).toBe(200)
    },
  )

  test('an unmapped value gets the default and is reported', verifies('import.unmapped-value'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const rows = [
      ['Title', 'Status', 'Priority', 'Type'],
      ['One', 'Simmering', 'Immense', 'Riddle'],
      ['Two', 'Done', 'Low', 'Bug'],
    ]
    const done = await importAll(app, owner, 'csv', csv(...rows), { default_team_id: team.id })
    expect(done.counts.issues).toMatchObject({ created: 2, skipped: 0 })
    expect(await issueCalled(owner, 'One')).toMatchObject({ status: 'backlog', priority: 'no_priority', type: 'task' })
    expect(await issueCalled(owner, 'Two')).toMatchObject({ status: 'done', priority: 'low', type: 'bug' })
    expect(await problemsOf(owner, done.id)).toMatchObject([
      { row: 2, field: 'status', value: 'Simmering' },
      { row: 2, field: 'priority', value: 'Immense' },
      { row: 2, field: 'type', value: 'Riddle' },
    ])
    expect(done.mapping).toMatchObject({ statuses: { Simmering: null, Done: 'done' } })
  })

  test('canceled and duplicate issues are done and labelled', verifies('import.canceled-status'), async ({ app }) => {
    const { owner } = await app.workspace()
    const rows = [linearRow({ Title: 'No', Status: 'Canceled' }), linearRow({ Title: 'Twice', Status: 'Duplicate' })]
    await importAll(app, owner, 'linear', linearCsv(rows))
    const { data: labels } = (await owner.get('/labels')).body
    const labelled = (name: string) => [labels.find((label: { name: string }) => label.name === name).id]
    expect(await issueCalled(owner, 'No')).toMatchObject({ status: 'done', label_ids: labelled('Canceled') })
    expect(await issueCalled(owner, 'Twice')).toMatchObject({ status: 'done', label_ids: labelled('Duplicate') })

    const { owner: other } = await app.workspace()
    await importAll(app, other, 'linear', linearCsv(rows), { statuses: { Canceled: 'backlog' } })
    expect(await issueCalled(other, 'No')).toMatchObject({ status: 'backlog', label_ids: [] })
    expect((await issueCalled(other, 'Twice')).status).toBe('done')
  })

  test(
    'skips teams, labels and archived issues, and turns points into hours',
    verifies('import.csv-mapping'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const rows = [
        linearRow({ Title: 'Kept', Labels: 'red, blue', Estimate: '3' }),
        linearRow({ Title: 'Elsewhere', Team: 'Ops', ID: 'OPS-1' }),
        linearRow({ Title: 'Old', Archived: '2025-01-01T00:00:00Z' }),
      ]
      const mapping = { teams: { Ops: 'skip' }, labels: { red: 'skip' }, archived: false, hours_per_point: 2 }
      const done = await importAll(app, owner, 'linear', linearCsv(rows), mapping)
      expect(done.counts).toMatchObject({ issues: { created: 1, skipped: 2 }, labels: { created: 1, skipped: 1 } })
      expect(await issuesOf(owner)).toMatchObject([{ title: 'Kept', time_estimate: 6 }])
      expect((await owner.get('/labels')).body.data).toMatchObject([{ name: 'blue' }])
    },
  )
})

describe('files of an import', () => {
  test('are limited in number, and refused after reading', verifies('import.csv-mapping'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body } = await owner.post('/imports', { source: 'linear' })
    const add = () => owner.post(`/imports/${body.id}/files?name=a.csv`, undefined, { raw: linearCsv([linearRow()]) })
    expect((await owner.post(`/imports/${body.id}/read`)).status).toBe(422)
    for (let count = 0; count < 20; count++) expect((await add()).status).toBe(201)
    await app.unchanged(async () => expect((await add()).status).toBe(422))
    await preview(app, owner, body.id)
    await app.unchanged(async () => expect((await add()).status).toBe(422))
    const { storage } = app.ctx
    const stored = async () => {
      const keys = []
      for await (const { key } of storage?.list(`imports/${body.id}/`) ?? []) keys.push(key)
      return keys.length
    }
    expect(await stored()).toBe(20)
    expect((await owner.delete(`/imports/${body.id}`)).status).toBe(204)
    expect(await stored()).toBe(0)
  })
})

test(
  'a file whose upload ended in a crash is removed with its import',
  verifies('import.managers-only'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const id = await upload(owner, 'linear', linearCsv([linearRow()]))
    const { path } = app.ctx.config.files as { path: string }
    const folder = join(path, 'imports', id)
    writeFileSync(join(folder, '.fil_01kjpwd6m0e0080008rg62fcdn.part'), 'half of a file')
    expect((await owner.delete(`/imports/${id}`)).status).toBe(204)
    expect(existsSync(folder)).toBe(false)
  },
)
