import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import {
  importAll,
  issueCalled,
  issuesOf,
  type LinearRow,
  linearCsv,
  linearRow,
  preview,
  problemsOf,
  start,
  upload,
} from '../../test/imports.ts'
import { Watch } from '../../test/watch.ts'
import { sql } from '../db/sql.ts'

const countOf = async ({ ctx }: TestApp, workspaceId: string) =>
  (
    await ctx.db.row<{ count: number }>(
      sql`select count(*)::int as count from issues where workspace_id = ${workspaceId}`,
    )
  )?.count

const many = (count: number) => Array.from({ length: count }, () => linearRow())

/** A started import whose work goes on beside the test. */
async function running(app: TestApp, owner: TestPerson, rows: LinearRow[]) {
  const id = await upload(owner, 'linear', linearCsv(rows))
  await preview(app, owner, id)
  expect((await owner.post(`/imports/${id}/start`)).status).toBe(200)
  let ended = false
  const work = app.workOnImports().finally(() => {
    ended = true
  })
  /** Calls `look` again and again until the work ends. */
  const whileRunning = async (look: () => Promise<unknown>) => {
    while (!ended) {
      await look()
      await turn()
    }
    await work
  }
  return { id, work, whileRunning }
}

describe('a second run', () => {
  test('of the same data creates nothing', verifies('import.idempotent'), async ({ app }) => {
    const { owner } = await app.workspace()
    const parent = linearRow({ Labels: 'red', Project: 'Door', 'Project Milestone': 'Alpha', 'Cycle Number': '4' })
    const rows = linearCsv([
      parent,
      linearRow({ 'Parent issue': parent.ID as string }),
      linearRow({ Blocks: parent.ID as string }),
    ])
    const first = await importAll(app, owner, 'linear', rows)
    expect(first.counts.issues.created).toBe(3)
    const stored = async () =>
      JSON.parse(await app.everything()).filter(({ name }: { name: string }) => !/^(import|audit)/.test(name))
    const before = await stored()
    // The same import again, and the same file in another one.
    for (const again of [await start(app, owner, first.id), await importAll(app, owner, 'linear', rows)]) {
      for (const [kind, counts] of Object.entries(again.counts)) {
        expect({ kind, ...(counts as object) }).toMatchObject({ kind, created: 0, updated: 0 })
      }
      expect(again.problem_count).toBe(0)
    }
    expect(await stored()).toEqual(before)
  })

  test(
    'updates issues that were not changed here, and reports the others',
    verifies('import.rerun-updates-unchanged'),
    async ({ app }) => {
      const { owner } = await app.workspace()
      const [one, two, three] = [
        linearRow({ Title: 'One' }),
        linearRow({ Title: 'Two' }),
        linearRow({ Title: 'Three' }),
      ]
      await importAll(app, owner, 'linear', linearCsv([one, two, three]))
      app.clock.advance({ minutes: 5 })
      await owner.put(`/issues/${two.ID}`, { title: 'Two, changed here' })
      expect((await owner.delete(`/issues/${three.ID}`)).status).toBe(204)
      const newer = [one, two, three].map((row) => ({
        ...row,
        Title: `${row.Title} newer`,
        Status: 'Done',
        Updated: '2025-06-01T00:00:00Z',
      }))
      const done = await importAll(
        app,
        owner,
        'linear',
        linearCsv([...newer, linearRow({ ID: 'WEB-90000', Title: 'Four' })]),
      )
      expect(done.counts.issues).toEqual({ created: 1, updated: 1, unchanged: 0, skipped: 2 })
      expect(
        (await issuesOf(owner)).map(({ title, status }: { title: string; status: string }) => [title, status]),
      ).toEqual([
        ['Four', 'todo'],
        ['Two, changed here', 'todo'],
        ['One newer', 'done'],
      ])
      expect(await problemsOf(owner, done.id)).toMatchObject([
        { value: two.ID, message: 'was changed here since it was imported; it is skipped' },
        { value: three.ID, message: 'was imported before and deleted here; it is skipped' },
      ])
      // Its own update is no change here.
      const third = await importAll(app, owner, 'linear', linearCsv(newer.map((row) => ({ ...row, Priority: 'Low' }))))
      expect(third.counts.issues).toMatchObject({ updated: 1, skipped: 2 })
      expect(await issueCalled(owner, 'One newer')).toMatchObject({ priority: 'low' })
    },
  )
})

describe('a running import', () => {
  test('can be canceled, and continues later', verifies('import.cancel'), async ({ app }) => {
    const { owner, id: workspaceId } = await app.workspace()
    const rows = many(2600)
    const { id, whileRunning } = await running(app, owner, rows)
    await whileRunning(async () => {
      const { body } = await owner.get(`/imports/${id}`)
      if (body.phase === 'issues' && body.done >= 500) await owner.post(`/imports/${id}/cancel`)
    })
    const { body: canceled } = await owner.get(`/imports/${id}`)
    expect(canceled.state).toBe('canceled')
    const kept = (await countOf(app, workspaceId)) as number
    expect(kept).toBe(canceled.counts.issues.created)
    expect(kept % 500).toBe(0)
    expect(kept).toBeGreaterThanOrEqual(500)
    expect(kept).toBeLessThan(2600)
    const done = await start(app, owner, id)
    expect(done).toMatchObject({ state: 'done', counts: { issues: { created: 2600 - kept, unchanged: kept } } })
    expect(await countOf(app, workspaceId)).toBe(2600)
  })

  test('is the only one of its workspace', verifies('import.one-at-a-time'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { owner: other } = await app.workspace()
    const [first, second] = [
      await upload(owner, 'linear', linearCsv(many(1))),
      await upload(owner, 'linear', linearCsv(many(1))),
    ]
    const elsewhere = await upload(other, 'linear', linearCsv(many(1)))
    for (const id of [first, second]) await preview(app, owner, id)
    await preview(app, other, elsewhere)
    expect((await owner.post(`/imports/${first}/start`)).status).toBe(200)
    await app.unchanged(async () => {
      for (const id of [first, second]) {
        expect(await owner.post(`/imports/${id}/start`)).toMatchObject({
          status: 409,
          body: { code: 'IMPORT_RUNNING' },
        })
      }
      expect((await owner.patch(`/imports/${first}`, { mapping: { keep_codes: true } })).status).toBe(409)
      expect((await owner.delete(`/imports/${first}`)).status).toBe(409)
    })
    expect((await other.post(`/imports/${elsewhere}/start`)).status).toBe(200)
    await app.workOnImports()
    expect((await start(app, owner, second)).state).toBe('done')
  })

  test('shows its progress while other requests are answered', verifies('import.progress'), async ({ app }) => {
    const { owner, member } = await app.workspace()
    const { id: issueId } = (await owner.post('/issues', { title: 'Mine' })).body
    const watch = await Watch.as(owner)
    await watch.next()
    const { id, whileRunning } = await running(app, owner, many(5000))
    const seen: string[] = []
    const steps = new Set<number>()
    let reads = 0
    const follow = whileRunning(async () => {
      const { body } = await owner.get(`/imports/${id}`)
      if (body.state === 'running' && seen.at(-1) !== body.phase) seen.push(body.phase)
      if (body.phase !== 'issues') return
      expect(body.total).toBe(5000)
      steps.add(body.done)
    })
    const readOn = whileRunning(async () => {
      expect((await member.get(`/issues/${issueId}`)).status).toBe(200)
      reads++
    })
    await Promise.all([follow, readOn])
    expect(seen).toContain('issues')
    expect(steps.size).toBeGreaterThan(1)
    expect(reads).toBeGreaterThan(2)
    expect((await owner.get(`/imports/${id}`)).body).toMatchObject({ state: 'done', phase: null })
    // A browser learns of each batch and of the end.
    const actions: string[] = []
    while (!actions.includes('create')) {
      const { data } = (await watch.next()) as { data: { type: string; id: string; action: string } }
      if (data.type === 'Import' && data.id === id) actions.push(data.action)
    }
    expect(actions.filter((action) => action === 'update').length).toBeGreaterThan(6)
  })

  test(
    'is continued by another worker when the first one says nothing',
    verifies('import.crash-resumes'),
    async ({ app }) => {
      const { owner, id: workspaceId } = await app.workspace()
      const id = await upload(owner, 'linear', linearCsv(many(1200)))
      await preview(app, owner, id)
      await owner.post(`/imports/${id}/start`)
      // A worker that claimed the import and died.
      await app.ctx.db.run(sql`
      update imports set claim = 'dead', claimed_until = ${new Date(app.clock.now().getTime() + 30_000)} where id = ${id}`)
      await app.workOnImports()
      expect(await countOf(app, workspaceId)).toBe(0)
      app.clock.advance({ seconds: 31 })
      await app.workOnImports()
      expect((await owner.get(`/imports/${id}`)).body.state).toBe('done')
      expect(await countOf(app, workspaceId)).toBe(1200)
    },
  )
})

test('sends nothing to anyone', verifies('import.no-side-effects'), async ({ startApp, receiver, smtp }) => {
  const app = await startApp(smtp.env)
  const { owner, member } = await app.workspace()
  const robot = await app.installed(owner, {
    scopes: ['read', 'app:assignable', 'app:mentionable'],
    webhook: receiver.url,
  })
  await owner.post('/webhooks', {
    label: 'All',
    url: receiver.url,
    all_teams: true,
    resource_types: ['Issue', 'Comment', 'Project'],
  })
  await app.deliver()
  const effects = async () =>
    JSON.parse(await app.everything()).filter(({ name }: { name: string }) =>
      /^(events|deliveries|attempts|inbox_entries|inbox_threads|mails|mail_due|agent_sessions|agent_activities|agent_work|issue_watchers)$/.test(
        name,
      ),
    )
  const before = await effects()
  const mention = `Ask @[Member](${member.user.id}) and @[Robot](${robot.userId}).`
  const rows = [
    linearRow({ Title: 'One', Description: mention, Assignee: member.user.email, Status: 'Done', Project: 'Door' }),
    linearRow({ Title: 'Two', Description: mention, Assignee: owner.user.email, Creator: member.user.email }),
  ]
  await importAll(app, owner, 'linear', linearCsv(rows))
  const github = [
    {
      number: 1,
      title: 'Three',
      html_url: 'https://github.com/acme/shop/issues/1',
      state: 'open',
      assignees: [],
      comments: [
        {
          id: 'a',
          body: mention,
          author: { login: 'ada' },
          url: 'https://github.com/acme/shop/issues/1#issuecomment-1',
        },
      ],
    },
  ]
  await importAll(app, owner, 'github', JSON.stringify(github))
  const { id } = await issueCalled(owner, 'Three')
  expect((await owner.get(`/comments?target_type=issue&target_id=${id}`)).body.data).toMatchObject([
    { text: mention, mentioned_user_ids: [] },
  ])
  await app.deliver()
  await app.work()
  await app.sendNotifications()
  expect(await effects()).toEqual(before)
  expect(receiver.received).toEqual([])
  expect(smtp.mails).toEqual([])
  // They are ordinary issues from then on.
  const { code } = await issueCalled(owner, 'One')
  await owner.put(`/issues/${code}`, { priority: 'low' })
  await app.deliver()
  expect(receiver.received.length).toBeGreaterThan(0)
})

test('keeps times, and lists in the original order', verifies('import.times-and-order'), async ({ app }) => {
  const { owner } = await app.workspace()
  const at = (day: number, hour = 0) => new Date(Date.UTC(2023, 4, day, hour)).toISOString()
  const row = (title: string, day: number, more: LinearRow = {}) =>
    linearRow({ Title: title, Created: at(day), Updated: at(day, 5), ...more })
  // Newest first, as trackers export, and two with the same time.
  const rows = [
    row('E', 9),
    row('D', 7, { ID: 'WEB-901' }),
    row('C', 7, { ID: 'WEB-900' }),
    row('A', 1, { Status: 'Done', Completed: at(3) }),
    row('B', 5),
  ]
  const { body: before } = await owner.post('/issues', { title: 'Here before' })
  await importAll(app, owner, 'linear', linearCsv(rows), { keep_codes: false })
  const issues = await issuesOf(owner)
  expect(issues.map(({ title }: { title: string }) => title)).toEqual(['Here before', 'E', 'D', 'C', 'B', 'A'])
  expect(issues[0].id).toBe(before.id)
  expect(await issueCalled(owner, 'A')).toMatchObject({ created_at: at(1), updated_at: at(1, 5), completed_at: at(3) })
  expect(await issueCalled(owner, 'E')).toMatchObject({ created_at: at(9), updated_at: at(9, 5), completed_at: null })
  // New codes follow the time too.
  const codes = issues.slice(1).map(({ code }: { code: string }) => Number(code.split('-')[1]))
  expect(codes).toEqual([...codes].sort((a, b) => b - a))

  const comment = (id: number, body: string, day: number) => ({
    id,
    body,
    createdAt: at(day),
    author: { login: 'ada' },
  })
  const issue = {
    number: 7,
    title: 'Talk',
    state: 'OPEN',
    createdAt: at(1),
    url: 'https://github.com/acme/shop/issues/7',
    comments: [comment(3, 'third', 9), comment(1, 'first', 2), comment(2, 'second', 2)],
  }
  await importAll(app, owner, 'github', JSON.stringify([issue]))
  const talk = await issueCalled(owner, 'Talk')
  const { data } = (await owner.get(`/comments?target_type=issue&target_id=${talk.id}`)).body
  expect(data.map(({ text, created_at }: { text: string; created_at: string }) => [text, created_at])).toEqual([
    ['first', at(2)],
    ['second', at(2)],
    ['third', at(9)],
  ])
})

describe('codes', () => {
  const keyed = (...numbers: number[]) =>
    numbers.map((number) => linearRow({ ID: `OLD-${number}`, Title: `Old ${number}` }))

  test('are kept in a team without other issues', verifies('import.keep-codes'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Web', key: 'OLD' })
    const done = await importAll(app, owner, 'linear', linearCsv(keyed(7, 3, 12)), { keep_codes: true })
    expect(done.problem_count).toBe(0)
    for (const number of [3, 7, 12])
      expect((await owner.get(`/issues/OLD-${number}`)).body).toMatchObject({
        code: `OLD-${number}`,
        title: `Old ${number}`,
      })
    expect((await owner.post('/issues', { title: 'Next', team_id: team.id })).body.code).toBe('OLD-13')
    // A later run keeps further codes only while the team has no other issues.
    const more = await importAll(app, owner, 'linear', linearCsv(keyed(3, 40)), { keep_codes: true })
    expect(await problemsOf(owner, more.id)).toMatchObject([{ field: 'keep_codes', value: 'Web' }])
    expect((await issueCalled(owner, 'Old 40')).code).not.toBe('OLD-40')
    expect((await owner.get('/issues/OLD-40')).body.title).toBe('Old 40')
  })

  test('are kept in a new team with the key of the source', verifies('import.keep-codes'), async ({ app }) => {
    const { owner } = await app.workspace()
    await importAll(app, owner, 'linear', linearCsv(keyed(5)), { keep_codes: true })
    const { data } = (await owner.get('/teams')).body
    expect(data).toMatchObject([{ name: 'Web', key: 'OLD' }])
    expect((await owner.post('/issues', { title: 'Next', team_id: data[0].id })).body.code).toBe('OLD-6')
  })

  test('of the source find the issue, and new issues skip them', verifies('import.alias'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: web } = await owner.post('/teams', { name: 'Web', key: 'WEB' })
    const { body: old } = await owner.post('/teams', { name: 'Old', key: 'OLD' })
    await owner.post('/issues', { title: 'Here', team_id: old.id })
    const done = await importAll(app, owner, 'linear', linearCsv(keyed(1, 2, 3, 9)))
    // OLD-1 is an issue here.
    expect((await owner.get('/issues/OLD-1')).body.title).toBe('Here')
    expect(await problemsOf(owner, done.id)).toMatchObject([{ field: 'key', value: 'OLD-1' }])
    for (const number of [2, 3, 9]) {
      const { body } = await owner.get(`/issues/old-${number}`)
      expect(body).toMatchObject({ title: `Old ${number}`, team_id: web.id })
      expect(body.code).toMatch(/^WEB-\d$/)
    }
    const create = async () => (await owner.post('/issues', { title: 'New', team_id: old.id })).body.code
    expect([await create(), await create(), await create(), await create(), await create(), await create()]).toEqual([
      'OLD-4',
      'OLD-5',
      'OLD-6',
      'OLD-7',
      'OLD-8',
      'OLD-10',
    ])
    const { body: batch } = await owner.post('/issues/batch', {
      issues: [
        { title: 'A', team_id: web.id },
        { title: 'B', team_id: web.id },
      ],
    })
    expect(batch.data.map(({ code }: { code: string }) => code)).toEqual(['WEB-5', 'WEB-6'])
  })

  test('in the same team each old code finds its own issue', verifies('import.alias'), async ({ app }) => {
    const { owner } = await app.workspace()
    const { body: team } = await owner.post('/teams', { name: 'Web', key: 'OLD' })
    await owner.post('/issues', { title: 'Here', team_id: team.id })
    await importAll(app, owner, 'linear', linearCsv(keyed(4, 2, 3)))
    for (const number of [2, 3, 4]) expect((await owner.get(`/issues/OLD-${number}`)).body.title).toBe(`Old ${number}`)
    const { body: issue } = await owner.get('/issues/OLD-2')
    expect((await owner.get(`/issues/${issue.id}/related`)).body.sources).toEqual([
      { source: 'linear', key: 'OLD-2', url: null },
    ])
  })
})

test(
  'sets parents, blocks and duplicates in any row order, and reports what is missing',
  verifies('import.parents-and-relations'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const row = (number: number, more: LinearRow = {}) =>
      linearRow({ ID: `REL-${number}`, Title: `R${number}`, ...more })
    const rows = [
      row(1, { 'Parent issue': 'REL-2', Blocks: 'REL-3' }),
      row(2, { 'Parent issue': 'REL-4' }),
      row(3, { 'Blocked by': 'REL-1', 'Duplicate of': 'REL-2' }),
      row(4, { 'Parent issue': 'REL-1' }),
      row(5, { 'Parent issue': 'REL-99', Blocks: 'REL-5', 'Blocked by': 'REL-98' }),
    ]
    const done = await importAll(app, owner, 'linear', linearCsv(rows))
    const byTitle = Object.fromEntries((await issuesOf(owner)).map((issue: { title: string }) => [issue.title, issue]))
    expect(byTitle.R1).toMatchObject({ parent_id: byTitle.R2.id, blocks_ids: [byTitle.R3.id] })
    expect(byTitle.R2.parent_id).toBe(byTitle.R4.id)
    expect(byTitle.R3.blocked_by_ids).toEqual([byTitle.R1.id])
    expect((await owner.get(`/issues/${byTitle.R3.id}/related`)).body.duplicate_of).toMatchObject({ id: byTitle.R2.id })
    for (const name of ['R4', 'R5']) expect(byTitle[name].parent_id).toBeNull()
    expect(done.counts.relations).toEqual({ created: 4, updated: 0, unchanged: 0, skipped: 1 })
    expect((await problemsOf(owner, done.id)).map(({ row, field, value }) => [row, field, value])).toEqual([
      [5, 'parent', 'REL-1'],
      [6, 'blocks', 'REL-5'],
      [6, 'blockedBy', 'REL-98'],
      [6, 'parent', 'REL-99'],
    ])
  },
)
