import { describe, expect } from 'vitest'
import { type TestPerson, test, verifies } from '../../test/harness.ts'
import {
  csv,
  importAll,
  issueCalled,
  issuesOf,
  linearCsv,
  linearRow,
  preview,
  problemsOf,
  upload,
} from '../../test/imports.ts'
import { sql } from '../db/sql.ts'

const jiraHeader = ['Summary', 'Issue key', 'Issue id', 'Project name', 'Status', 'Created', 'Comment']
const jira = (...rows: string[][]) => csv(jiraHeader, ...rows)

/** Titles and comments of all issues. */
async function contents(owner: TestPerson) {
  const found: [string, string[]][] = []
  for (const { id, title } of await issuesOf(owner)) {
    const { data } = (await owner.get(`/comments?target_type=issue&target_id=${id}`)).body
    found.push([title, data.map(({ text }: { text: string }) => text)])
  }
  return found.sort()
}

describe('the same ids of another source', () => {
  test('two Jira sites have the same issue ids', verifies('import.idempotent'), async ({ app }) => {
    const { owner } = await app.workspace()
    const first = jira(
      ['Oil the hinges', 'DOOR-1', '10000', 'Door', 'To Do', '13/Mar/24 8:00 AM', '13/Mar/24 9:00 AM;a1;Creaks'],
      ['Paint it', 'DOOR-2', '10001', 'Door', 'To Do', '13/Mar/24 8:00 AM', ''],
    )
    const second = jira(
      ['Order glass', 'WIN-1', '10000', 'Window', 'To Do', '13/Mar/24 8:00 AM', '14/Mar/24 9:00 AM;b2;Which size?'],
      ['Measure', 'WIN-2', '10001', 'Window', 'Done', '13/Mar/24 8:00 AM', ''],
    )
    await importAll(app, owner, 'jira', first)
    const done = await importAll(app, owner, 'jira', second)
    expect(done.counts.issues).toMatchObject({ created: 2, updated: 0 })
    const both = [
      ['Measure', []],
      ['Oil the hinges', ['Creaks']],
      ['Order glass', ['Which size?']],
      ['Paint it', []],
    ]
    expect(await contents(owner)).toEqual(both)
    for (const file of [first, second]) {
      const again = await importAll(app, owner, 'jira', file)
      expect(again.counts).toMatchObject({ issues: { created: 0, unchanged: 2 }, comments: { created: 0 } })
    }
    expect(await contents(owner)).toEqual(both)
  })

  test(
    'a file that only shares its ids changes nothing',
    verifies('import.rerun-updates-unchanged'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
      const mapping = { default_team_id: team.id }
      const rows = (...titles: string[]) =>
        csv(
          ['Id', 'Title', 'Status', 'Parent'],
          ...titles.map((title, at) => [`${at + 1}`, title, 'Todo', at === 1 ? '1' : '']),
        )
      await importAll(app, owner, 'csv', rows('Hinges', 'Paint', 'Lock'), mapping)
      const before = await issuesOf(owner)
      const id = await upload(owner, 'csv', rows('Glass', 'Frame', 'Putty'))
      const read = await preview(app, owner, id, mapping)
      expect(read.counts.issues).toEqual({ created: 0, updated: 0, unchanged: 0, skipped: 3 })
      const other = await importAll(app, owner, 'csv', rows('Glass', 'Frame', 'Putty'), mapping)
      expect(other.counts).toEqual(read.counts)
      expect(await issuesOf(owner)).toEqual(before)
      expect(await problemsOf(owner, other.id)).toMatchObject([{ field: 'id', value: '1, 2, 3' }])
      // Another title in some rows of the same file is an update.
      const edited = await importAll(app, owner, 'csv', rows('Hinges', 'Paint it red', 'Lock'), mapping)
      expect(edited.counts.issues).toMatchObject({ updated: 1, unchanged: 2, skipped: 0 })
    },
  )

  test(
    'the codes of two Linear workspaces are the same',
    verifies('import.rerun-updates-unchanged'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const row = (title: string, Created: string) =>
        linearRow({ ID: 'SAME-1', Title: title, Created, Updated: Created })
      await importAll(app, owner, 'linear', linearCsv([row('One', '2024-01-01T10:00:00Z')]))
      const other = await importAll(app, owner, 'linear', linearCsv([row('Another', '2025-02-01T10:00:00Z')]))
      expect(other.counts.issues).toMatchObject({ created: 0, updated: 0, skipped: 1 })
      expect((await issuesOf(owner)).map(({ title }: { title: string }) => title)).toEqual(['One'])
      // The same time of creation: it got another title there.
      const renamed = await importAll(app, owner, 'linear', linearCsv([row('Another', '2024-01-01T10:00:00Z')]))
      expect(renamed.counts.issues).toMatchObject({ updated: 1 })
    },
  )
})

test('an issue that was made personal gets no more comments', verifies('import.no-side-effects'), async ({ app }) => {
  const { owner, admin } = await app.workspace()
  const row = (comment: string) =>
    jira(['Oil the hinges', 'DOOR-1', '1', 'Door', 'To Do', '13/Mar/24 8:00 AM', comment])
  await importAll(app, admin, 'jira', row(''))
  const issue = await issueCalled(owner, 'Oil the hinges')
  await app.ctx.db.run(sql`update issues set reporter_id = ${owner.user.id} where id = ${issue.id}`)
  expect((await owner.put(`/issues/${issue.id}`, { personal: true, team_id: null })).status).toBe(200)
  const again = await importAll(app, admin, 'jira', row('13/Mar/24 9:00 AM;a1;Creaks'))
  expect(again.counts.comments).toMatchObject({ created: 0, skipped: 1 })
  expect((await owner.get(`/comments?target_type=issue&target_id=${issue.id}`)).body.data).toEqual([])
})

describe('the mapping of the last import of the source', () => {
  const row = (fields: Record<string, string> = {}) =>
    linearRow({ ID: 'OPS-1', Team: 'Ops', Title: 'One', Status: 'Blocked', Assignee: 'Dana', Estimate: '3', ...fields })

  test('is where the next one begins', verifies('import.rerun-updates-unchanged'), async ({ app }) => {
    const { owner, member, admin } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const { body: gone } = await owner.post('/teams', { name: 'Gone', key: 'GON' })
    const mapping = {
      teams: { Ops: team.id, Old: gone.id },
      statuses: { Blocked: 'qa' },
      labels: { red: 'skip' },
      users: { Dana: member.user.id, Eve: admin.user.id },
      hours_per_point: 2,
      keep_codes: true,
    }
    const old = linearRow({ ID: 'OLD-1', Team: 'Old', Status: 'Ancient', Assignee: 'Eve', Labels: 'red' })
    await importAll(app, owner, 'linear', linearCsv([row(), old]), mapping)
    await importAll(app, owner, 'csv', csv(['Title'], ['Other']), { default_team_id: team.id, hours_per_point: 9 })
    for (const { id } of (await issuesOf(owner)).filter((one: { team_id: string }) => one.team_id === gone.id))
      await owner.delete(`/issues/${id}`)
    expect((await owner.delete(`/teams/${gone.id}`)).status).toBe(204)
    expect((await owner.delete(`/workspaces/me/members/${admin.user.id}`)).status).toBe(204)

    const newer = [
      row({ Description: 'More is known' }),
      linearRow({ ID: 'OLD-2', Team: 'Old', Assignee: 'Eve', Labels: 'red' }),
    ]
    const id = await upload(owner, 'linear', linearCsv(newer))
    const read = await preview(app, owner, id)
    expect(read.mapping).toMatchObject({
      teams: { Ops: team.id, Old: 'create' },
      statuses: { Blocked: 'qa', Todo: 'todo' },
      labels: { red: 'skip' },
      users: { Dana: member.user.id, Eve: null },
      hours_per_point: 2,
      keep_codes: true,
    })
    // Only values of this file.
    expect(read.mapping.statuses).not.toHaveProperty('Ancient')
    expect(read.counts.issues).toMatchObject({ created: 1, updated: 1 })
    // What is chosen here stays chosen.
    const changed = await preview(app, owner, id, { hours_per_point: null, statuses: { Blocked: null } })
    expect(changed.mapping).toMatchObject({ hours_per_point: null, statuses: { Blocked: null }, keep_codes: true })
    const early = await upload(owner, 'linear', linearCsv(newer))
    await owner.patch(`/imports/${early}`, { mapping: { keep_codes: false } })
    expect((await preview(app, owner, early)).mapping).toMatchObject({ keep_codes: false, hours_per_point: 2 })
  })

  test('finds columns by their names', verifies('import.csv-mapping'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    const columns = { title: 0, description: 1, status: null }
    const first = csv(['Was', 'Warum', 'Status'], ['Oil', 'It creaks', 'Done'])
    await importAll(app, owner, 'csv', first, { default_team_id: team.id, columns })
    const done = await importAll(app, owner, 'csv', csv(['Status', 'Warum', 'Was'], ['Done', 'It is old', 'Paint']))
    expect(done.mapping).toMatchObject({
      default_team_id: team.id,
      columns: { title: 2, description: 1, status: null },
    })
    expect(await issueCalled(owner, 'Paint')).toMatchObject({ description: 'It is old', status: 'backlog' })
  })
})

test('codes are kept by default if a team is new', verifies('import.keep-codes'), async ({ app }) => {
  const { owner } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const known = await upload(owner, 'linear', linearCsv([linearRow({ Team: 'Engineering', ID: 'ENG-7' })]))
  expect((await preview(app, owner, known)).mapping).toMatchObject({
    teams: { Engineering: team.id },
    keep_codes: false,
  })
  const done = await importAll(
    app,
    owner,
    'linear',
    linearCsv([linearRow({ Team: 'Sales', ID: 'SAL-41', Title: 'Call' })]),
  )
  expect(done.mapping).toMatchObject({ teams: { Sales: 'create' }, keep_codes: true })
  expect((await issueCalled(owner, 'Call')).code).toBe('SAL-41')
})

test('points that are left out are reported', verifies('import.unmapped-value'), async ({ app }) => {
  const { owner } = await app.workspace()
  const rows = linearCsv([linearRow({ Estimate: '3' }), linearRow({ Estimate: '5' }), linearRow()])
  const id = await upload(owner, 'linear', rows)
  await preview(app, owner, id)
  expect(await problemsOf(owner, id)).toEqual([
    { row: null, field: 'points', value: null, message: expect.stringContaining('of 2 issues are left out') },
  ])
  await preview(app, owner, id, { hours_per_point: 2 })
  expect(await problemsOf(owner, id)).toEqual([])
})
