import { describe, expect } from 'vitest'
import { everyScope, invalid, missing, sessionScene } from '../../test/agent-sessions.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'

describe('a session', () => {
  test(
    'opened by a delegation has the issue and the person who delegated',
    verifies(
      'session.id-prefix',
      'session.field-set',
      'session.issue-shape',
      'session.issue-url',
      'session.comment-null-on-delegation',
      'session.creator-is-person',
      'session.timestamps-format',
      'session.end-fields-null-while-open',
      'session.new-is-pending',
    ),
    async ({ app }) => {
      const { delegated, team, member, robot } = await sessionScene(app)
      const session = await delegated({ title: 'It breaks' })
      const { body: issues } = await member.get('/issues')
      const [{ id, code }] = issues.data
      const now = app.clock.now().toISOString()
      expect(session.id).toMatch(/^sess_[0-9a-hjkmnp-tv-z]{26}$/)
      expect(now).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(await robot.get(session.path)).toMatchObject({ status: 200 })
      expect(await session.get()).toEqual({
        id: session.id,
        state: 'pending',
        unresponsive_since: null,
        issue: {
          id,
          identifier: code,
          title: 'It breaks',
          url: `${app.ctx.config.appUrl}/issue/${code}`,
          team: { id: team.id, key: 'ENG', name: 'Engineering' },
        },
        comment: null,
        creator: { id: member.user.id, name: member.user.display_name },
        app_user_id: robot.userId,
        plan: [],
        external_urls: [],
        changes: null,
        usage: null,
        budget_reached: null,
        created_at: now,
        updated_at: now,
        ended_at: null,
        end_reason: null,
      })
      app.clock.advance({ seconds: 70, milliseconds: 7 })
      await session.stop()
      app.clock.advance({ seconds: 70 })
      const { unresponsive_since, updated_at, ended_at } = await session.get()
      for (const time of [unresponsive_since, updated_at, ended_at]) {
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }
    },
  )

  test(
    'opened by a mention has the comment and the person who wrote it',
    verifies('session.comment-shape', 'session.creator-is-person'),
    async ({ app }) => {
      const { mentioned, newIssue, owner, member } = await sessionScene(app)
      const issue = await newIssue({ assignee_id: owner.user.id }, owner)
      const session = await mentioned(issue)
      const { id, text } = session.comment
      expect(await session.get()).toMatchObject({
        issue: { id: issue.id },
        comment: { id, body: text, url: `${issue.url}#comment-${id}` },
        creator: { id: member.user.id, name: member.user.display_name },
      })
    },
  )

  test('on a project has no issue', verifies('session.issue-null-on-project-comment'), async ({ app }) => {
    const { mentioned, newProject } = await sessionScene(app)
    const project = await newProject()
    const { get, comment } = await mentioned(project)
    const url = `${app.ctx.config.appUrl}/project/${project.id}#comment-${comment.id}`
    expect(await get()).toMatchObject({ issue: null, comment: { id: comment.id, url } })
  })

  test(
    'stays open when the comment that opened it is deleted',
    verifies('session.comment-deleted'),
    async ({ app }) => {
      const { mentioned, newIssue, member } = await sessionScene(app)
      const session = await mentioned(await newIssue())
      expect((await member.delete(`/comments/${session.comment.id}`)).status).toBe(204)
      expect(await session.get()).toMatchObject({ comment: null, state: 'pending', ended_at: null })
      expect((await session.say('thought')).status).toBe(201)
    },
  )
})

describe('an app can open a session', () => {
  test(
    'on an issue, a new one each time, without an event',
    verifies(
      'session.app-opens-201',
      'session.creator-is-app-user',
      'session.issue-id-always-new',
      'session.new-is-pending',
    ),
    async ({ app }) => {
      const { robot, newIssue, id: workspaceId } = await sessionScene(app)
      const issue = await newIssue()
      const opened: string[] = []
      const events = await eventsOf(app, workspaceId, async () => {
        for (const _ of [1, 2]) {
          const { status, body } = await robot.post('/agent-sessions', { issue_id: issue.id })
          expect(status).toBe(201)
          expect(body).toMatchObject({ state: 'pending', issue: { id: issue.id }, comment: null })
          expect(body.creator).toEqual({ id: robot.userId, name: robot.app.name })
          opened.push(body.id)
        }
      })
      expect(new Set(opened).size).toBe(2)
      expect(names(events)).toEqual([])
    },
  )

  test(
    'in the thread of a comment, one at a time',
    verifies('session.app-opens-201', 'session.app-reopen-on-comment-is-200'),
    async ({ app }) => {
      const { robot, newIssue, newProject, comment, member, at } = await sessionScene(app)
      for (const target of [await newIssue(), await newProject()]) {
        const root = await comment(target, 'Hm')
        const reply = await comment(target, 'Hm?', { parent_comment_id: root.id })
        const opened = await robot.post('/agent-sessions', { comment_id: reply.id })
        expect(opened).toMatchObject({
          status: 201,
          body: { comment: { id: reply.id }, creator: { id: robot.userId } },
        })
        const again = await app.unchanged(() => robot.post('/agent-sessions', { comment_id: root.id }))
        expect(again).toEqual({ ...opened, status: 200, headers: expect.anything() })
        const another = await app.installed(member, { teamIds: null })
        expect(await another.post('/agent-sessions', { comment_id: root.id })).toMatchObject({ status: 201 })
        await at(opened.body.id).stop()
        expect(await robot.post('/agent-sessions', { comment_id: root.id })).toMatchObject({
          status: 200,
          body: { id: opened.body.id, state: 'stopping' },
        })
        app.clock.advance({ seconds: 60 })
        const next = await robot.post('/agent-sessions', { comment_id: root.id })
        expect(next.status).toBe(201)
        expect(next.body.id).not.toBe(opened.body.id)
      }
    },
  )

  test(
    'in a thread once, for simultaneous requests',
    verifies('session.app-reopen-on-comment-is-200'),
    async ({ app }) => {
      const { robot, newIssue, comment } = await sessionScene(app)
      const { id: comment_id } = await comment(await newIssue(), 'Hm')
      const answers = await Promise.all(Array.from({ length: 8 }, () => robot.post('/agent-sessions', { comment_id })))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201])
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    },
  )

  test(
    'only on items it can access',
    verifies('session.app-open-unseen-404', 'scope.other-team-session-is-404'),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const { owner, robot, otherTeam, newIssue, newProject, comment, member } = scene
      const elsewhere = await sessionScene(app)
      const everywhere = await app.installed(owner, { scopes: everyScope })
      const far = await newIssue({ team_id: otherTeam.id })
      const own = await newIssue({ team_id: undefined, personal: true })
      const noTeam = await newIssue({ team_id: undefined })
      const foreign = await elsewhere.newIssue()
      const near = await newIssue()
      const farProject = await newProject({ team_ids: [otherTeam.id] })
      const ownProject = (await member.post('/projects', { title: 'Mine', personal: true })).body
      for (const issue of [far, own, noTeam, foreign, { id: 'iss_00000000000000000000000000' }, { id: near.code }]) {
        expect(await app.unchanged(() => robot.post('/agent-sessions', { issue_id: issue.id }))).toMatchObject(missing)
      }
      const unseen = [
        await comment(far, 'Hm'),
        await comment(own, 'Hm'),
        await comment(near, 'Hm', { internal: true }),
        await comment(farProject, 'Hm'),
        await comment(ownProject, 'Hm'),
        await elsewhere.comment(foreign, 'Hm'),
        { id: 'cmt_00000000000000000000000000' },
      ]
      for (const { id } of unseen) {
        expect(await app.unchanged(() => robot.post('/agent-sessions', { comment_id: id }))).toMatchObject(missing)
      }
      for (const issue_id of [own.id, foreign.id]) {
        expect(await app.unchanged(() => everywhere.post('/agent-sessions', { issue_id }))).toMatchObject(missing)
      }
      expect((await everywhere.post('/agent-sessions', { issue_id: noTeam.id })).body.issue.team).toBeNull()
      expect((await everywhere.post('/agent-sessions', { issue_id: far.id })).status).toBe(201)
    },
  )

  test(
    'with exactly one of issue and comment',
    verifies('session.app-open-bad-body', 'session.issue-id-always-new'),
    async ({ app }) => {
      const { robot, newIssue, comment } = await sessionScene(app)
      const issue = await newIssue()
      const { id: comment_id } = await comment(issue, 'Hm')
      const bodies = [
        {},
        { issue_id: issue.id, comment_id },
        { issue_id: issue.id, state: 'active' },
        { issue_id: null },
        { issue_id: 7 },
        { issue_id: '' },
      ]
      for (const body of bodies) {
        expect(await app.unchanged(() => robot.post('/agent-sessions', body)), JSON.stringify(body)).toMatchObject(
          invalid,
        )
      }
    },
  )

  test('but a person cannot', async ({ app }) => {
    const { owner, newIssue } = await sessionScene(app)
    const { id: issue_id } = await newIssue()
    expect(await app.unchanged(() => owner.post('/agent-sessions', { issue_id }))).toMatchObject({ status: 403 })
  })
})

describe('access to a session', () => {
  test(
    'is denied to other apps with 404',
    verifies('session.foreign-404', 'session.list-own-only'),
    async ({ app }) => {
      const { delegated, owner, id } = await sessionScene(app)
      const elsewhere = await sessionScene(app)
      const session = await delegated()
      const others = [await app.installed(owner, { scopes: everyScope }), elsewhere.robot]
      for (const other of others) {
        const calls = [
          () => other.get(session.path),
          () => other.get(`${session.path}/activities`),
          () => other.patch(session.path, { plan: [] }),
          () => other.post(`${session.path}/activities`, { content: { type: 'thought', body: 'Mine' } }),
          () => other.post(`${session.path}/activities`, { content: { type: 'response', body: 'Mine' } }),
        ]
        for (const call of calls) expect(await app.unchanged(call)).toMatchObject(missing)
        expect((await other.get('/agent-sessions')).body).toEqual({ data: [], next_cursor: null })
      }
      const astray = elsewhere.robot.with({ 'x-workspace-id': id })
      expect((await app.unchanged(() => astray.get(session.path))).status).toBe(403)
      expect((await session.get()).state).toBe('pending')
    },
  )

  test('needs no scope for its own app', verifies('scope.own-sessions-need-none'), async ({ app }) => {
    const { owner, team, newIssue } = await sessionScene(app)
    const bare = await app.installed(owner, { scopes: ['app:assignable'], teamIds: [team.id] })
    expect((await bare.get('/issues')).status).toBe(403)
    const { body } = await bare.post('/agent-sessions', { issue_id: (await newIssue()).id })
    const path = `/agent-sessions/${body.id}`
    expect((await bare.get(path)).status).toBe(200)
    expect((await bare.get('/agent-sessions')).body.data).toHaveLength(1)
    expect((await bare.patch(path, { plan: [] })).status).toBe(200)
    expect((await bare.post(`${path}/activities`, { content: { type: 'thought', body: 'Hm' } })).status).toBe(201)
    expect((await bare.get(`${path}/activities`)).body.data).toHaveLength(1)
  })
})
