import { describe, expect } from 'vitest'
import { automationScene, comment, daily } from '../../test/automations.ts'
import { done } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const now = '2026-03-02T10:00:00.000Z'

describe('create_issue', () => {
  test(
    'creates an issue by the owner, with an ordinary event',
    verifies('automation.create-issue', 'automation.create-issue-template', 'automation.placeholders'),
    async ({ startApp }) => {
      const app = await startApp()
      const { id: workspaceId, automate, owner, member, team, runsOf, issue, work } = await automationScene(app)
      const label = await done(owner.post('/labels', { name: 'Red' }))
      const template = await done(
        owner.post('/templates', {
          name: 'T',
          team_id: team.id,
          title: 'From it',
          description: 'Steps of {{week}}',
          priority: 'high',
          type: 'bug',
          label_ids: [label.id],
        }),
      )
      const automation = await automate({
        trigger: daily('0 10 * * *'),
        actions: [
          { type: 'create_issue', template_id: template.id, title: 'Report {{date}}', priority: 'low', status: 'todo' },
        ],
      })
      app.clock.advance({ hours: 1 })
      const events = await eventsOf(app, workspaceId, work)
      expect(names(events)).toEqual(['Issue create'])
      expect(events[0]?.body).toMatchObject({ actor: { id: member.user.id }, data: { reporter_id: member.user.id } })
      expect(JSON.stringify(events[0]?.body.data)).not.toContain('automation')
      const [run] = await runsOf(automation)
      expect(run).toMatchObject({ state: 'done', actions: [{ type: 'create_issue', ok: true }] })
      expect(await issue(run?.actions[0]?.subject_id as string)).toMatchObject({
        title: 'Report 2026-03-02',
        description: 'Steps of 2026-W10',
        priority: 'low',
        type: 'bug',
        status: 'todo',
        label_ids: [label.id],
        team_id: team.id,
      })
      // What the action does not name comes from the template.
      const plain = [{ type: 'create_issue', template_id: template.id }]
      await done(member.put(`/automations/${automation.id}`, { actions: plain }))
      app.clock.advance({ hours: 24 })
      await work()
      expect(await issue((await runsOf(automation))[0]?.actions[0]?.subject_id as string)).toMatchObject({
        title: 'From it',
        priority: 'high',
        type: 'bug',
      })
      await done(owner.delete(`/templates/${template.id}`))
      app.clock.advance({ hours: 24 })
      expect(names(await eventsOf(app, workspaceId, work))).toEqual([])
      expect((await runsOf(automation))[0]).toMatchObject({
        state: 'failed',
        reason: 'refused',
        message: expect.stringContaining('template_id'),
      })
    },
  )

  test(
    'sets the current cycle, and the due day in the time zone of the trigger, or in UTC',
    verifies('automation.create-issue-cycle-and-due'),
    async ({ startApp }) => {
      const app = await startApp()
      const { automate, member, owner, team, newIssue, runsOf, issue, work } = await automationScene(app)
      const cycle = await done(
        member.post('/cycles', {
          name: 'C1',
          team_id: team.id,
          starts_at: '2026-03-01T00:00:00Z',
          ends_at: '2026-03-03T12:00:00Z',
        }),
      )
      const action = { type: 'create_issue', title: 'Weekly', current_cycle: true, due_in_days: 2 } as const
      // 12:00 UTC is 01:00 of the next day there.
      const zoned = await automate({ trigger: daily('0 1 * * *', 'Pacific/Auckland'), actions: [action] })
      const onIssue = await automate({ filter: { type: ['bug'] }, actions: [action] })
      const created = async (by: { id: string }) => {
        const [run] = await runsOf(by)
        expect(run?.created_at).toBe(app.clock.now().toISOString())
        return issue(run?.actions[0]?.subject_id as string)
      }
      app.clock.advance({ hours: 3 })
      await newIssue({ type: 'bug' }, owner)
      await work()
      expect(await created(zoned)).toMatchObject({ cycle_id: cycle.id, due_date: '2026-03-05T00:00:00.000Z' })
      expect(await created(onIssue)).toMatchObject({ cycle_id: cycle.id, due_date: '2026-03-04T00:00:00.000Z' })
      // The end of the cycle lies outside of it.
      app.clock.advance({ hours: 24 })
      await work()
      expect(await created(zoned)).toMatchObject({ cycle_id: null, due_date: '2026-03-06T00:00:00.000Z' })
    },
  )

  test('is skipped while the previous issue is open', verifies('automation.skip-if-open'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, member, runsOf, work } = await automationScene(app)
    const automation = await automate({
      trigger: daily('0 10 * * *'),
      actions: [{ type: 'create_issue', title: 'Weekly', skip_if_open: true }],
    })
    const nextDay = async () => {
      app.clock.advance({ hours: 24 })
      await work()
      return (await runsOf(automation))[0]
    }
    const first = await nextDay()
    expect(first).toMatchObject({ state: 'done' })
    expect(await nextDay()).toMatchObject({ state: 'skipped', reason: 'previous_open' })
    // Runs are kept for 30 days, the issue of the last one for longer.
    await app.ctx.db.run(sql`delete from automation_runs where automation_id = ${automation.id}`)
    expect(await nextDay()).toMatchObject({ state: 'skipped', reason: 'previous_open' })
    for (const status of ['qa', 'release']) {
      await done(member.put(`/issues/${first?.actions[0]?.subject_id}`, { status }))
      expect(await nextDay()).toMatchObject({ state: 'skipped', reason: 'previous_open' })
    }
    await done(member.put(`/issues/${first?.actions[0]?.subject_id}`, { status: 'done' }))
    expect(await nextDay()).toMatchObject({ state: 'done' })
  })
})

describe('set_fields', () => {
  test(
    'changes only what it names, and nothing twice',
    verifies('automation.set-fields', 'automation.history-names-it'),
    async ({ app }) => {
      const {
        id: workspaceId,
        automate,
        owner,
        member,
        newIssue,
        runsOf,
        issue,
        work,
        commentsOn,
      } = await automationScene(app)
      const [red, blue, green] = await Promise.all(
        ['Red', 'Blue', 'Green'].map((name) => done(owner.post('/labels', { name }))),
      )
      const automation = await automate({
        actions: [
          { type: 'set_fields', priority: 'high', add_label_ids: [blue.id], remove_label_ids: [red.id] },
          comment,
        ],
      })
      const made = await newIssue({ label_ids: [red.id, green.id], description: 'Kept' }, owner)
      await work()
      const after = await issue(made.id)
      expect(after).toMatchObject({
        priority: 'high',
        label_ids: [blue.id, green.id].sort(),
        description: 'Kept',
        status: made.status,
      })
      const [change] = (await done(owner.get(`/issues/${made.id}/history`))).data
      expect(change).toMatchObject({ actor: { id: member.user.id }, automation_id: automation.id })
      expect(await commentsOn(made)).toMatchObject([{ author_id: member.user.id, automation_id: automation.id }])
      const own = await done(owner.put(`/issues/${made.id}`, { title: 'By hand' }))
      expect((await done(owner.get(`/issues/${own.id}/history`))).data[0].automation_id).toBeNull()

      const events = await eventsOf(app, workspaceId, async () => {
        await done(member.post(`/automations/${automation.id}/run`, { issue_id: made.id }))
        await work()
      })
      expect(names(events)).toEqual(['Comment create'])
      expect(events[0]?.body).toMatchObject({ actor: { id: member.user.id } })
      expect(events[0]?.body.data).not.toHaveProperty('automation_id')
      expect((await runsOf(automation))[0]).toMatchObject({
        state: 'done',
        actions: [{ ok: true, message: 'unchanged' }, { ok: true }],
      })
    },
  )
})

describe('delegate', () => {
  test(
    'opens one session for the owner',
    verifies('automation.delegate', 'automation.delegate-left-alone'),
    async ({ app }) => {
      const { automate, owner, member, newIssue, runsOf, robot, issue, work } = await automationScene(app)
      const automation = await automate({ actions: [{ type: 'delegate', agent_id: robot.userId }] })
      const made = await newIssue({}, owner)
      await work()
      expect(await issue(made.id)).toMatchObject({ delegate_id: robot.userId, assignee_id: member.user.id })
      const sessions = async () => (await done(owner.get(`/agent-sessions?issue_id=${made.id}`))).data
      expect(await sessions()).toMatchObject([{ creator: { id: member.user.id } }])
      await done(member.post(`/automations/${automation.id}/run`, { issue_id: made.id }))
      await work()
      expect((await runsOf(automation))[0]).toMatchObject({
        state: 'done',
        actions: [{ ok: true, message: 'already_delegated' }],
      })
      expect(await sessions()).toHaveLength(1)
    },
  )

  test('leaves an issue of the agent alone', verifies('automation.own-work'), async ({ app }) => {
    const { automate, newIssue, runsOf, robot, issue, work, commentsOn, owner } = await automationScene(app)
    const delegates = await automate({ actions: [comment, { type: 'delegate', agent_id: robot.userId }] })
    const asks = await automate({ actions: [{ type: 'ask_agent', agent_id: robot.userId, text: 'Look.' }] })
    const made = await newIssue({}, robot)
    await work()
    for (const automation of [delegates, asks]) {
      expect(await runsOf(automation)).toMatchObject([{ state: 'skipped', reason: 'own_work' }])
    }
    expect(await issue(made.id)).toMatchObject({ delegate_id: null })
    expect(await commentsOn(made)).toEqual([])
    expect((await done(owner.get(`/agent-sessions?issue_id=${made.id}`))).data).toEqual([])
  })
})

describe('ask_agent and comment', () => {
  test('mention the agent, and set no assignee', verifies('automation.ask-agent'), async ({ app }) => {
    const { automate, owner, member, newIssue, robot, issue, work, commentsOn } = await automationScene(app)
    const automation = await automate({
      actions: [{ type: 'ask_agent', agent_id: robot.userId, text: 'What is {{issue.code}}?' }],
    })
    const made = await newIssue({}, owner)
    await work()
    expect(await commentsOn(made)).toMatchObject([
      {
        author_id: member.user.id,
        automation_id: automation.id,
        mentioned_user_ids: [robot.userId],
        text: expect.stringContaining(`(${robot.userId}) What is ${made.code}?`),
      },
    ])
    expect(await issue(made.id)).toMatchObject({ assignee_id: null, delegate_id: null })
    expect((await done(owner.get(`/agent-sessions?issue_id=${made.id}`))).data).toMatchObject([
      { creator: { id: member.user.id } },
    ])
  })

  test('make a comment by the owner', verifies('automation.comment'), async ({ app }) => {
    const { id, automate, owner, member, newIssue, runsOf, work, commentsOn } = await automationScene(app)
    const automation = await automate({ actions: [{ type: 'comment', text: 'Seen: {{issue.code}}' }] })
    const made = await newIssue({}, owner)
    const events = await eventsOf(app, id, work)
    const [run] = await runsOf(automation)
    expect(run).toMatchObject({ state: 'done', actions: [{ type: 'comment', ok: true }] })
    expect(await commentsOn(made)).toMatchObject([
      {
        id: run?.actions[0]?.subject_id,
        author_id: member.user.id,
        automation_id: automation.id,
        text: `Seen: ${made.code}`,
        parent_comment_id: null,
        internal: false,
      },
    ])
    expect(names(events)).toEqual(['Comment create'])
    expect(events[0]?.body).toMatchObject({ actor: { id: member.user.id }, data: { text: `Seen: ${made.code}` } })
    const byHand = await done(member.post('/comments', { target_type: 'issue', target_id: made.id, text: 'By hand' }))
    expect(byHand.automation_id).toBeNull()
  })

  test(
    'insert titles without their mentions and files',
    verifies('automation.placeholder-no-mention'),
    async ({ app }) => {
      const { automate, owner, member, newIssue, robot, work, commentsOn } = await automationScene(app)
      const place = await newIssue()
      const upload = `/files?name=a.txt&target_type=issue&target_id=${place.id}`
      const file = await done(member.post(upload, undefined, { raw: 'Hello' }))
      await automate({ actions: [{ type: 'comment', text: 'About {{issue.title}}' }] })
      await automate({ actions: [{ type: 'comment', text: `See ![x](${file.id})` }] })
      const made = await newIssue({ title: `@[Robot](${robot.userId}) ![x](${file.id})` }, owner)
      await work()
      const [about, see] = (await commentsOn(made)).sort((a: { text: string }, b: { text: string }) =>
        a.text < b.text ? -1 : 1,
      )
      expect(about).toMatchObject({
        mentioned_user_ids: [],
        text: `About @ [Robot] (${robot.userId}) ![x] (${file.id})`,
      })
      expect((await done(owner.get(`/agent-sessions?issue_id=${made.id}`))).data).toEqual([])
      const linked = await app.ctx.db.rows<{ id: string }>(sql`
        select target_id as id from file_links where file_id = ${file.id} and target_type = 'comment'`)
      // The owner's own text links it.
      expect(linked.map(({ id }) => id)).toEqual([see.id])
    },
  )
})

describe('notify', () => {
  test('tells each person once, the owner too', verifies('automation.notify'), async ({ app }) => {
    const { automate, owner, admin, member, newIssue, work, inboxOf, join } = await automationScene(app)
    const leaver = await join('member')
    await automate({ actions: [{ type: 'notify', user_ids: [member.user.id, admin.user.id, leaver.user.id] }] })
    await automate({ actions: [{ type: 'notify', who: 'reporter' }], filter: { text: 'reported' } })
    await done(owner.delete(`/workspaces/me/members/${leaver.user.id}`))
    const made = await newIssue({}, owner)
    await work()
    for (const person of [member, admin]) {
      expect(await inboxOf(person, 'automation_notice')).toMatchObject([{ subject_id: made.id, title: made.title }])
    }
    expect(await inboxOf(owner, 'automation_notice')).toEqual([])
    expect(
      await app.ctx.db.rows(
        sql`select 1 from inbox_entries where user_id = ${leaver.user.id} and kind = 'automation_notice'`,
      ),
    ).toEqual([])
    await newIssue({ title: 'reported' }, owner)
    await work()
    expect(await inboxOf(owner, 'automation_notice')).toHaveLength(1)
  })

  test('without an issue is about the automation', verifies('automation.notify'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, member, work, inboxOf } = await automationScene(app)
    const automation = await automate({
      name: 'Stand-up',
      trigger: daily('0 10 * * *'),
      actions: [{ type: 'notify', who: 'team' }],
    })
    app.clock.advance({ hours: 1 })
    await work()
    expect(await inboxOf(member, 'automation_notice')).toMatchObject([
      {
        subject_id: automation.id,
        title: 'Stand-up',
        url: expect.stringContaining(`/settings/automations/${automation.id}`),
      },
    ])
    const { data } = await done(member.get('/inbox/threads'))
    expect(data).toMatchObject([
      { subject_id: automation.id, kinds: ['automation_notice'], latest: { created_at: now } },
    ])
  })
})
