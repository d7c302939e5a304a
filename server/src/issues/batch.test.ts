import { limits } from '@baton/protocol'
import { describe, expect, vi } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'
import { asApp } from '../../test/oauth.ts'
import type { Queryable, Tx } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'

const titles = (count: number) => Array.from({ length: count }, (_, at) => ({ title: `Step ${at + 1}` }))

/** How many statements a call sends in its transactions. */
async function statementsOf(app: TestApp, work: () => Promise<unknown>) {
  let statements = 0
  const { db } = app.ctx
  const begin = db.tx.bind(db)
  const counted =
    <T>(send: (statement: Sql) => Promise<T>) =>
    (statement: Sql) => {
      statements++
      return send(statement)
    }
  const spy = vi.spyOn(db, 'tx').mockImplementation((run) =>
    begin((tx) => {
      const counting: Tx = {
        ...tx,
        rows: counted((statement) => tx.rows(statement)) as Queryable['rows'],
        row: counted((statement) => tx.row(statement)) as Queryable['row'],
        run: counted((statement) => tx.run(statement)),
      }
      return run(counting)
    }),
  )
  try {
    await work()
  } finally {
    spy.mockRestore()
  }
  return statements
}

describe('creating a batch of issues', () => {
  test('creates all in order, each with its event', verifies('batch.all-or-none'), async ({ app }) => {
    const scene = await issueScene(app)
    const { id, owner, member, team } = scene
    const [parent, blocked] = [await makeIssue(scene), await makeIssue(scene)]
    const issues = [
      { title: 'First', team_id: team.id, parent_id: parent.id, assignee_id: member.user.id },
      { title: 'Second', team_id: team.id, blocks_ids: [blocked.id] },
      { title: 'Third', blocks_ids: [blocked.id] },
      { title: 'Mine', personal: true },
    ]
    let created: { id: string; title: string; code: string }[] = []
    const events = await eventsOf(app, id, async () => {
      const response = await owner.post('/issues/batch', { issues })
      expect(response.status).toBe(201)
      created = response.body.data
    })
    expect(created).toMatchObject(issues)
    expect(created.map(({ code }) => code)).toEqual(['ENG-3', 'ENG-4', 'X-1', 'X-2'])
    expect(names(events)).toEqual(['Issue create', 'Issue create', 'Issue create', 'Issue update'])
    expect(events.slice(0, 3).map(({ body }) => body.data.title)).toEqual(['First', 'Second', 'Third'])
    const [one] = created
    const single = await eventsOf(app, id, () => owner.post('/issues', { title: 'Alone', team_id: team.id }))
    expect(Object.keys(events[0]?.body)).toEqual(Object.keys(single[0]?.body))
    expect(Object.keys(events[0]?.body.data)).toEqual(Object.keys(single[0]?.body.data))
    const listed = (await owner.get('/issues?limit=6')).body.data.map(({ title }: { title: string }) => title)
    expect(listed.slice(1, 5)).toEqual(['Mine', 'Third', 'Second', 'First'])
    expect((await owner.get(`/issues/${blocked.id}`)).body.blocked_by_ids).toEqual(
      [created[1]?.id, created[2]?.id].sort(),
    )
    expect((await member.get('/inbox')).body.data).toMatchObject([{ kind: 'assignment', subject_id: one?.id }])
  })

  test('accepts 1 to 100 issues', verifies('batch.all-or-none'), async ({ app }) => {
    const { owner } = await issueScene(app)
    expect((await owner.post('/issues/batch', { issues: titles(1) })).body.data).toHaveLength(1)
    expect((await owner.post('/issues/batch', { issues: titles(limits.batchIssues) })).body.data).toHaveLength(100)
    for (const issues of [[], titles(limits.batchIssues + 1)]) {
      expect(await app.unchanged(() => owner.post('/issues/batch', { issues }))).toMatchObject({ status: 422 })
    }
  })

  test('sends as many statements for a hundred issues as for two', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, team } = scene
    const blocked = await makeIssue(scene)
    const label = await done(owner.post('/labels', { name: 'Red' }))
    const post = (count: number) => () =>
      done(
        owner.post('/issues/batch', {
          issues: titles(count).map((issue) => ({
            ...issue,
            team_id: team.id,
            assignee_id: member.user.id,
            label_ids: [label.id],
            blocks_ids: [blocked.id],
          })),
        }),
      )
    const [few, many] = [await statementsOf(app, post(2)), await statementsOf(app, post(98))]
    expect(few).toBeGreaterThan(5)
    expect(many).toBe(few)
    const tooMany = await app.unchanged(() =>
      owner.post('/issues/batch', { issues: [{ title: 'One' }, { title: 'Two', blocks_ids: [blocked.id] }] }),
    )
    expect(tooMany).toMatchObject({ status: 422, body: { details: { 'issues.1.blocks_ids': expect.any(String) } } })
  })

  test.for([
    ['an empty title', { title: '' }, 'issues.1.title'],
    ['an unknown label', { title: 'Two', label_ids: ['lbl_x'] }, 'issues.1.label_ids'],
    ['an unknown parent', { title: 'Two', parent_id: 'iss_x' }, 'issues.1.parent_id'],
    ['an unknown delegate', { title: 'Two', delegate_id: 'usr_x' }, 'issues.1.delegate_id'],
    ['an unknown field', { title: 'Two', colour: 'red' }, 'issues.1.colour'],
  ] as const)(
    'creates none with %s, and names it by its index',
    verifies('batch.all-or-none'),
    async ([, bad, field], { app }) => {
      const { owner } = await issueScene(app)
      const refused = await app.unchanged(() => owner.post('/issues/batch', { issues: [{ title: 'One' }, bad] }))
      expect(refused).toMatchObject({
        status: 422,
        body: { code: 'VALIDATION_ERROR', details: { [field]: expect.any(String) } },
      })
    },
  )

  test('holds apps to the rules for one issue', verifies('batch.all-or-none'), async ({ app }) => {
    const { owner, team, other } = await issueScene(app)
    const robot = await app.installed(owner, { scopes: ['issues:create'], teamIds: [team.id] })
    const fine = { title: 'One', team_id: team.id }
    const post = (bad: object) =>
      app.unchanged(() => robot.post('/issues/batch', { issues: [fine, { ...fine, ...bad }] }))
    expect((await robot.post('/issues/batch', { issues: [fine, fine] })).status).toBe(201)
    expect(await post({ team_id: other.id })).toMatchObject({ status: 403, body: { code: 'TEAM_ACCESS_DENIED' } })
    expect(await post({ team_id: null })).toMatchObject({
      status: 422,
      body: { details: { 'issues.1.team_id': expect.any(String) } },
    })
    expect(await post({ status: 'done' })).toMatchObject({
      body: { code: 'APP_STATUS_FORBIDDEN', details: { status: 'done', index: 1 } },
    })
    expect(await post({ delegate_id: null })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_DELEGATE', details: { index: 1 } },
    })
    const reader = await app.installed(owner, { scopes: ['read'] })
    expect((await reader.post('/issues/batch', { issues: [fine] })).body.code).toBe('INSUFFICIENT_SCOPE')
  })

  test('holds a personal token for selected teams to them', verifies('batch.all-or-none'), async ({ app }) => {
    const { id, owner, team, other } = await issueScene(app)
    const token = { name: 'Script', scopes: ['read', 'write'], team_ids: [team.id] }
    const script = asApp(app, id, (await done(owner.post('/personal-tokens', token))).token)
    const fine = { title: 'One', team_id: team.id }
    expect((await script.post('/issues/batch', { issues: [fine, fine] })).status).toBe(201)
    for (const bad of [{ team_id: other.id }, { team_id: null }, { team_id: null, personal: true }]) {
      const issue = { ...fine, ...bad }
      expect((await app.unchanged(() => script.post('/issues', issue))).body.code).toBe('TEAM_ACCESS_DENIED')
      expect(await app.unchanged(() => script.post('/issues/batch', { issues: [fine, issue] }))).toMatchObject({
        status: 403,
        body: { code: 'TEAM_ACCESS_DENIED', details: { index: 1 } },
      })
    }
  })

  test('opens a session for each delegated issue', verifies('batch.all-or-none'), async ({ app, receiver }) => {
    const { id, owner, robot, team, sessions, admin } = await teamwork(app, receiver)
    const issue = { title: 'Do it', team_id: team.id, delegate_id: robot.userId }
    const events = await eventsOf(app, id, () => done(owner.post('/issues/batch', { issues: [issue, issue] })))
    expect(names(events).sort()).toEqual([
      'AgentSessionEvent created',
      'AgentSessionEvent created',
      'Issue create',
      'Issue create',
    ])
    expect(await sessions()).toHaveLength(2)
    const outsider = await app.unchanged(() => admin.post('/issues/batch', { issues: [{ title: 'One' }, issue] }))
    expect(outsider.body).toMatchObject({ code: 'DELEGATION_REQUIRES_ASSIGNEE', details: { index: 1 } })
  })
})
