import { describe, expect } from 'vitest'
import { ended, invalid, missing, refusal } from '../../test/agent-sessions.ts'
import { done } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { inboxOf } from '../../test/reviews.ts'
import { one, reason, triageScene } from '../../test/suggestions.ts'
import { sql } from '../db/sql.ts'

describe('an app', () => {
  test(
    'suggests 1 to 20 changes in its session; the issue stays and no event is recorded',
    verifies('triage.suggest'),
    async ({ app }) => {
      const { asked, newIssue, newProject, owner, member, robot, label, team, id } = await triageScene(app)
      const { issue, session, suggest, read } = await asked()
      const before = await read()
      const original = await newIssue()
      const project = await newProject()
      const all = [
        one('priority', 'high'),
        one('type', 'bug'),
        one('label', label.id),
        one('assignee', owner.user.id),
        one('project', project.id),
        one('duplicate_of', original.id),
      ]
      const events = await eventsOf(app, id, async () => {
        const answer = await suggest(all)
        expect(answer.status).toBe(201)
        expect(answer.body.data).toMatchObject(
          all.map((suggested) => ({
            ...suggested,
            issue_id: issue.id,
            session_id: session.id,
            agent: { id: robot.userId },
            state: 'open',
            decided_by: null,
            decided_at: null,
          })),
        )
        const listed = await done(robot.get(`/issues/${issue.code}/suggestions`))
        expect(listed.data).toEqual(answer.body.data.toReversed())
      })
      expect(names(events)).toEqual([])
      expect(await read()).toEqual(before)
      expect(await inboxOf(member)).toMatchObject([
        { kind: 'suggestions_ready', subject_id: team.id, title: team.name, read_at: null },
      ])
      const labels = await Promise.all(
        Array.from({ length: 21 }, async (_, n) => (await done(owner.post('/labels', { name: `L ${n}` }))).id),
      )
      const many = labels.map((value) => one('label', value))
      for (const suggestions of [[], many]) {
        expect(await app.unchanged(() => suggest(suggestions))).toMatchObject(invalid)
      }
      expect((await suggest(many.slice(1))).status).toBe(201)
      // One unread entry a team.
      expect(await inboxOf(member)).toHaveLength(1)
      const [thread] = (await done(member.get('/inbox/threads'))).data
      expect(thread).toMatchObject({ subject_id: team.id, url: expect.stringMatching(`/triage\\?team_id=${team.id}$`) })
      await done(member.patch(`/inbox/threads/${team.id}`, { read: true }))
      await done(suggest([one('type', 'story')]))
      expect(await inboxOf(member)).toMatchObject([{ read_at: null }, { read_at: expect.any(String) }])
    },
  )

  test(
    'cannot suggest another field, a value that PUT /issues refuses, or a field twice',
    verifies('triage.suggest-fields'),
    async ({ app }) => {
      const { asked, newIssue, newProject, otherTeam, label, owner } = await triageScene(app)
      const { issue, suggest } = await asked()
      const hidden = await newIssue({ team_id: otherTeam.id })
      const personal = await done(owner.post('/issues', { title: 'Mine', personal: true }))
      const elsewhere = await newProject({ team_ids: [otherTeam.id] })
      const stranger = await app.person()
      const cases: [object, string][] = [
        [one('status', 'done'), 'field'],
        [one('delegate', 'usr_x'), 'field'],
        [one('title', 'New'), 'field'],
        [one('priority', 'extreme'), 'value'],
        [one('priority', null), 'value'],
        [one('type', 'epic'), 'value'],
        [one('label', 'lbl_00000000000000000000000000'), 'value'],
        [one('assignee', stranger.user.id), 'value'],
        [one('project', elsewhere.id), 'value'],
        [one('duplicate_of', issue.id), 'value'],
        [one('duplicate_of', hidden.id), 'value'],
        [one('duplicate_of', personal.id), 'value'],
        [{ ...one('type', 'bug'), reason: '' }, 'reason'],
        [{ ...one('type', 'bug'), reason: 'x'.repeat(501) }, 'reason'],
      ]
      for (const [bad, part] of cases) {
        const answer = await app.unchanged(() => suggest([one('label', label.id), bad]))
        expect({ bad, answer }).toMatchObject({
          answer: { ...invalid, body: { details: { [`suggestions.1.${part}`]: expect.any(String) } } },
        })
      }
      const twice = [one('type', 'bug'), one('type', 'task')]
      expect(await app.unchanged(() => suggest(twice))).toMatchObject({
        ...invalid,
        body: { details: { 'suggestions.1.field': expect.any(String) } },
      })
      expect((await suggest([{ ...one('type', 'bug'), reason: 'x'.repeat(500) }])).status).toBe(201)
    },
  )

  test(
    'gets the same suggestions for the same key, and stores nothing',
    verifies('triage.suggest-idempotent'),
    async ({ app }) => {
      const { asked } = await triageScene(app)
      const { suggest, session } = await asked()
      const key = { 'idempotency-key': 'k1' }
      const first = await suggest([one('type', 'bug'), one('priority', 'low')], key)
      const again = await app.unchanged(() => suggest([one('type', 'bug'), one('priority', 'low')], key))
      expect(again).toMatchObject({ status: 201, body: first.body })
      expect(await app.unchanged(() => suggest([one('type', 'task')], key))).toMatchObject(
        refusal(409, 'IDEMPOTENCY_KEY_REUSED'),
      )
      // Also once the suggestions were replaced and the session has ended.
      await done(suggest([one('type', 'task')]))
      await done(session.stop())
      await done(session.say('response'))
      const late = await app.unchanged(() => suggest([one('type', 'bug'), one('priority', 'low')], key))
      expect(late.body.data.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
        [first.body.data[0].id, 'outdated'],
        [first.body.data[1].id, 'open'],
      ])
    },
  )

  test(
    'replaces its open suggestion for a field, and for a label only the one for that label',
    verifies('triage.suggest-replaces'),
    async ({ app }) => {
      const { asked, label, red, owner, team, comment } = await triageScene(app)
      const { issue, suggest, open } = await asked()
      const values = async () => (await open()).map(({ value }: { value: string }) => value).sort()
      await done(suggest([one('type', 'bug'), one('label', label.id)]))
      const other = await app.installed(owner, {
        scopes: ['app:mentionable'],
        teamIds: [team.id],
        webhook: 'https://robots.example.com/hook',
      })
      await comment(issue, `@[Other](${other.userId}) look`)
      const { id } = (await other.get('/agent-sessions')).body.data[0]
      await done(other.post(`/agent-sessions/${id}/suggestions`, { suggestions: [one('type', 'story')] }))
      await done(suggest([one('type', 'task'), one('label', red.id)]))
      expect(await values()).toEqual(['story', 'task', label.id, red.id].sort())
      await done(suggest([{ ...one('label', red.id), reason: 'Another reason' }]))
      expect(await values()).toEqual(['story', 'task', label.id, red.id].sort())
      const { data } = await done(owner.get(`/issues/${issue.id}/suggestions?state=outdated`))
      expect(data).toMatchObject([
        { value: red.id, reason, decided_by: null, decided_at: expect.any(String) },
        { value: 'bug' },
      ])
    },
  )

  test(
    'cannot suggest in the session of another app, in an ended one, or on a project',
    verifies('triage.suggest-foreign-session'),
    async ({ app }) => {
      const { asked, newProject, mentioned, owner, robot } = await triageScene(app)
      const { session, suggest } = await asked()
      const body = { suggestions: [one('type', 'bug')] }
      const other = await app.installed(owner)
      expect(await app.unchanged(() => other.post(`${session.path}/suggestions`, body))).toMatchObject(missing)
      expect(await app.unchanged(() => owner.post(`${session.path}/suggestions`, body))).toMatchObject(
        refusal(403, 'FORBIDDEN'),
      )
      const planned = await mentioned(await newProject())
      expect(await app.unchanged(() => robot.post(`${planned.path}/suggestions`, body))).toMatchObject({
        ...invalid,
        body: { details: { session_id: expect.any(String) } },
      })
      await done(session.stop())
      await done(session.say('response'))
      expect(await app.unchanged(() => suggest(body.suggestions))).toMatchObject(ended('stopped'))
      expect(await app.ctx.db.rows(sql`select 1 from suggestions where session_id = ${session.id}`)).toEqual([])
    },
  )
})

test(
  'triage lists the issues with open suggestions that the caller can see, newest first, by team',
  verifies('triage.list'),
  async ({ app }) => {
    const { asked, owner, member, team, otherTeam } = await triageScene(app)
    const issues = [await asked(), await asked(), await asked()]
    for (const { suggest } of issues) await done(suggest([one('type', 'bug'), one('priority', 'low')]))
    const listed = async (query = '', by = member) => (await done(by.get(`/triage${query}`))).data
    const [first, second, third] = issues.map(({ issue }) => issue.id)
    const idsOf = (rows: { issue: { id: string } }[]) => rows.map(({ issue }) => issue.id)
    expect(idsOf(await listed())).toEqual([third, second, first])
    expect(await listed()).toMatchObject([
      { issue: await issues[2]?.read(), suggestions: [{ field: 'type' }, { field: 'priority' }] },
      {},
      {},
    ])
    expect(idsOf(await listed(`?team_id=${team.id}`))).toEqual([third, second, first])
    expect(await listed(`?team_id=${otherTeam.id}`)).toEqual([])
    const paged = await member.get('/triage?limit=2')
    expect(idsOf(paged.body.data)).toEqual([third, second])
    expect(idsOf(await listed(`?cursor=${paged.body.next_cursor}`))).toEqual([first])
    // Decided ones leave the list; personal issues are seen by their reporter alone.
    const [decided] = (await listed()).at(-1).suggestions
    await done(issues[0]?.decide({ decline: [decided.id] }) as never)
    const [left] = (await listed()).at(-1).suggestions
    expect((await listed()).at(-1).suggestions).toMatchObject([{ field: 'priority' }])
    await done(member.put(`/issues/${third}`, { personal: true }))
    expect(idsOf(await listed())).toEqual([third, second, first])
    expect(idsOf(await listed('', owner))).toEqual([second, first])
    await done(issues[0]?.decide({ decline: [left.id] }) as never)
    expect(idsOf(await listed('', owner))).toEqual([second])
  },
)
