import { describe, expect } from 'vitest'
import { automationScene, comment, onChanged } from '../../test/automations.ts'
import { done } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'
import { newId } from '../ids.ts'
import { claimRuns, performRun } from './perform.ts'

describe('authority', () => {
  test(
    'is that of the owner at the moment of the run',
    verifies('automation.owner-authority', 'automation.all-or-nothing'),
    async ({ app }) => {
      const {
        id: workspaceId,
        automate,
        owner,
        newIssue,
        newProject,
        runsOf,
        work,
        commentsOn,
        issue,
      } = await automationScene(app)
      const project = await newProject()
      const automation = await automate({ actions: [comment, { type: 'set_fields', project_id: project.id }, comment] })
      await done(owner.delete(`/projects/${project.id}`))
      const made = await newIssue({}, owner)
      expect(names(await eventsOf(app, workspaceId, work))).toEqual([])
      expect(await runsOf(automation)).toMatchObject([
        {
          state: 'failed',
          reason: 'refused',
          message: expect.stringMatching(/^VALIDATION_ERROR: project_id /),
          actions: [
            { type: 'comment', ok: false, subject_id: null },
            { type: 'set_fields', ok: false, message: expect.stringMatching(/^VALIDATION_ERROR/) },
          ],
        },
      ])
      expect(await commentsOn(made)).toEqual([])
      expect(await issue(made.id)).toEqual(made)
    },
  )

  test(
    'is refused where the owner would be refused',
    verifies('automation.owner-authority', 'automation.all-or-nothing'),
    async ({ app }) => {
      const { id, automate, owner, member, otherTeam, robot, newIssue, runsOf, work } = await automationScene(app)
      const automation = await automate({ actions: [comment, { type: 'delegate', agent_id: robot.userId }] })
      const made = await newIssue({}, owner)
      await done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [otherTeam.id] }))
      const byHand = await member.put(`/issues/${made.id}`, { delegate_id: robot.userId })
      expect(byHand).toMatchObject({ status: 422, body: { code: 'DELEGATE_UNAVAILABLE' } })
      expect(names(await eventsOf(app, id, work))).toEqual([])
      expect(await runsOf(automation)).toMatchObject([
        { state: 'failed', reason: 'refused', message: expect.stringMatching(`^${byHand.body.code}: `) },
      ])
    },
  )

  test('is that of a manager only while the owner is one', verifies('automation.owner-authority'), async ({ app }) => {
    const { automate, owner, admin, newIssue, runsOf, work, commentsOn } = await automationScene(app)
    const [ofAdmin, ofOwner] = [await automate({}, admin), await automate({}, owner)]
    const before = await newIssue({}, owner)
    await work()
    expect(await runsOf(ofAdmin)).toMatchObject([{ state: 'done' }])
    expect(await commentsOn(before)).toHaveLength(2)
    const after = await newIssue({}, owner)
    await done(owner.patch(`/workspaces/me/members/${admin.user.id}`, { role: 'member' }))
    await work()
    expect((await runsOf(ofAdmin))[0]).toMatchObject({ state: 'skipped', reason: 'owner_not_allowed' })
    expect(await commentsOn(after)).toMatchObject([{ author_id: owner.user.id, automation_id: ofOwner.id }])
  })

  test(
    'ends with the membership of the workspace',
    verifies('automation.owner-left', 'automation.pause-told'),
    async ({ app }) => {
      const { automate, owner, admin, member, join, newIssue, runsOf, work, commentsOn, reread, inboxOf } =
        await automationScene(app)
      const automation = await automate()
      const made = await newIssue({}, owner)
      await done(owner.delete(`/workspaces/me/members/${member.user.id}`))
      expect(await reread(automation)).toMatchObject({
        state: 'paused',
        paused_reason: 'owner_left',
        owner_id: member.user.id,
      })
      for (const manager of [owner, admin]) {
        expect(await inboxOf(manager, 'automation_paused')).toMatchObject([
          { subject_id: automation.id, title: automation.name },
        ])
      }
      const other = await join('member')
      expect(await inboxOf(other, 'automation_paused')).toEqual([])
      await work()
      expect(await runsOf(automation)).toMatchObject([{ state: 'skipped', reason: 'off' }])
      expect(await commentsOn(made)).toEqual([])
    },
  )

  test(
    'ends with the membership of the team',
    verifies('automation.owner-left-team', 'automation.pause-told', 'automation.enable-checks'),
    async ({ app }) => {
      const { automate, owner, admin, member, team, newIssue, runsOf, work, commentsOn, reread, inboxOf } =
        await automationScene(app)
      const automation = await automate()
      await done(owner.delete(`/teams/${team.id}/members/${member.user.id}`))
      const made = await newIssue({}, owner)
      await work()
      expect(await runsOf(automation)).toMatchObject([{ state: 'skipped', reason: 'owner_not_allowed' }])
      expect(await commentsOn(made)).toEqual([])
      expect(await reread(automation)).toMatchObject({ state: 'paused', paused_reason: 'owner_not_allowed' })
      for (const told of [member, owner, admin]) expect(await inboxOf(told, 'automation_paused')).toHaveLength(1)
      const enable = () => member.post(`/automations/${automation.id}/enable`)
      expect(await app.unchanged(enable)).toMatchObject({
        status: 422,
        body: { details: { owner_id: expect.any(String) } },
      })
      await done(owner.put(`/teams/${team.id}/members/${member.user.id}`))
      expect(await done(enable())).toMatchObject({ state: 'on', paused_reason: null })
    },
  )

  test(
    'ends with the agent',
    verifies('automation.agent-gone', 'automation.pause-told', 'automation.enable-checks'),
    async ({ app }) => {
      const { automate, owner, admin, member, robot, reread, inboxOf } = await automationScene(app)
      const named = [
        await automate({ actions: [{ type: 'delegate', agent_id: robot.userId }] }),
        await automate({ actions: [{ type: 'ask_agent', agent_id: robot.userId, text: 'Look.' }] }),
        await automate({ trigger: { type: 'session', outcomes: ['finished'] }, filter: { agent_id: [robot.userId] } }),
      ]
      const other = await automate()
      await done(owner.delete(`/installations/${robot.installationId}`))
      for (const told of [member, owner, admin])
        expect(await inboxOf(told, 'automation_paused')).toHaveLength(named.length)
      for (const automation of named) {
        expect(await reread(automation)).toMatchObject({ state: 'paused', paused_reason: 'agent_gone' })
        const refused = await app.unchanged(() => member.post(`/automations/${automation.id}/enable`))
        expect(refused.status).toBe(422)
        expect(Object.keys(refused.body.details)[0]).toMatch(/agent_id$/)
      }
      expect(await reread(other)).toMatchObject({ state: 'on' })
      const [first] = named
      await done(member.put(`/automations/${first?.id}`, { actions: [comment] }))
      expect(await done(member.post(`/automations/${first?.id}/enable`))).toMatchObject({ state: 'on' })
    },
  )

  test(
    'is lost after five failures in a row',
    verifies('automation.failing-pauses', 'automation.pause-told'),
    async ({ app }) => {
      const { automate, owner, admin, member, newIssue, newProject, work, reread, inboxOf, runsOf } =
        await automationScene(app)
      const project = await newProject()
      const automation = await automate({
        filter: { type: ['bug'] },
        actions: [{ type: 'set_fields', project_id: project.id }],
      })
      const fail = async (times: number) => {
        for (let at = 0; at < times; at++) {
          await newIssue({ type: 'bug' }, owner)
          await work()
        }
      }
      await app.ctx.db.run(
        sql`update automations set actions = ${JSON.stringify([{ type: 'set_fields', project_id: newId('prj') }])}::jsonb where id = ${automation.id}`,
      )
      await fail(4)
      await done(member.put(`/automations/${automation.id}`, { actions: [comment] }))
      await fail(1)
      await app.ctx.db.run(
        sql`update automations set actions = ${JSON.stringify([{ type: 'set_fields', project_id: newId('prj') }])}::jsonb where id = ${automation.id}`,
      )
      await fail(4)
      expect(await reread(automation)).toMatchObject({ state: 'on' })
      await fail(1)
      expect(await reread(automation)).toMatchObject({ state: 'paused', paused_reason: 'failing' })
      for (const told of [member, owner, admin]) expect(await inboxOf(told, 'automation_paused')).toHaveLength(1)
      expect((await runsOf(automation)).map(({ state }) => state)).toEqual([
        ...Array(5).fill('failed'),
        'done',
        ...Array(4).fill('failed'),
      ])
    },
  )
})

describe('a run', () => {
  test(
    'happens once, although its worker dies before the commit',
    verifies('automation.once-on-crash'),
    async ({ startApp }) => {
      const app = await startApp()
      const { id: workspaceId, automate, owner, newIssue, work, runsOf, commentsOn, robot } = await automationScene(app)
      const automation = await automate({
        filter: { text: 'bug' },
        actions: [comment, { type: 'delegate', agent_id: robot.userId }, { type: 'create_issue', title: 'Follow-up' }],
      })
      const made = await newIssue({}, owner)
      // The last statement of the run fails, as when the connection is lost there.
      await app.ctx.db.run(sql`alter table automation_runs add constraint broken check (state <> 'done') not valid`)
      expect(names(await eventsOf(app, workspaceId, work))).toEqual([])
      expect(await commentsOn(made)).toEqual([])
      expect(await runsOf(automation)).toMatchObject([{ state: 'pending' }])
      await app.ctx.db.run(sql`alter table automation_runs drop constraint broken`)
      await work()
      expect(await runsOf(automation)).toMatchObject([{ state: 'pending' }])
      app.clock.advance({ seconds: 30 })
      const events = await eventsOf(app, workspaceId, async () => {
        await work()
        await work()
      })
      expect(names(events).sort()).toEqual([
        'AgentSessionEvent created',
        'Comment create',
        'Issue create',
        'Issue update',
      ])
      expect(await runsOf(automation)).toMatchObject([{ state: 'done' }])
      expect(await commentsOn(made)).toHaveLength(1)
    },
  )

  test(
    'is done only by the worker that claimed it last',
    verifies('automation.once-on-crash'),
    async ({ startApp }) => {
      const app = await startApp()
      const { automate, owner, newIssue, runsOf, commentsOn } = await automationScene(app)
      const automation = await automate()
      const made = await newIssue({}, owner)
      const [first] = await claimRuns(app.ctx, 10)
      expect(await claimRuns(app.ctx, 10)).toEqual([])
      app.clock.advance({ seconds: 30 })
      const [second] = await claimRuns(app.ctx, 10)
      await performRun(app.ctx, first as never)
      expect(await commentsOn(made)).toEqual([])
      await performRun(app.ctx, second as never)
      await performRun(app.ctx, second as never)
      expect(await commentsOn(made)).toHaveLength(1)
      expect(await runsOf(automation)).toMatchObject([{ state: 'done' }])
    },
  )

  test('is given up after five claims', verifies('automation.gives-up'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, owner, newIssue, runsOf, commentsOn, work } = await automationScene(app)
    const automation = await automate()
    const made = await newIssue({}, owner)
    for (let at = 0; at < 5; at++) {
      expect(await claimRuns(app.ctx, 10)).toHaveLength(1)
      expect(await runsOf(automation)).toMatchObject([{ state: 'pending' }])
      app.clock.advance({ seconds: 30 })
    }
    await work()
    expect(await runsOf(automation)).toMatchObject([{ state: 'failed', reason: 'gave_up' }])
    expect(await commentsOn(made)).toEqual([])
  })

  test('follows the one before it', verifies('automation.in-order'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, owner, newIssue, runsOf, work } = await automationScene(app)
    const automation = await automate()
    const other = await automate()
    const issues = [await newIssue({}, owner), await newIssue({}, owner), await newIssue({}, owner)]
    const claimed = await claimRuns(app.ctx, 10)
    expect(claimed.map(({ automationId }) => automationId).sort()).toEqual([automation.id, other.id].sort())
    expect(await claimRuns(app.ctx, 10)).toEqual([])
    for (const one of claimed) await performRun(app.ctx, one)
    await work()
    expect((await runsOf(automation)).map(({ issue }) => issue?.id).reverse()).toEqual(issues.map(({ id }) => id))
    const times = await app.ctx.db.rows<{ id: string }>(sql`
      select issue_id as id from comments where automation_id = ${automation.id} order by id`)
    expect(times.map(({ id }) => id)).toEqual(issues.map(({ id }) => id))
  })

  test('is in the history for 30 days', verifies('automation.run-history'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, owner, newIssue, runsOf, work, member } = await automationScene(app)
    const automation = await automate()
    const issues = [await newIssue({}, owner), await newIssue({}, owner)]
    await work()
    const runs = await runsOf(automation)
    expect(runs.map(({ issue }) => issue)).toEqual(issues.map(({ id, code, title }) => ({ id, code, title })).reverse())
    expect(runs[0]).toMatchObject({
      state: 'done',
      reason: null,
      message: null,
      version: 1,
      depth: 1,
      finished_at: '2026-03-02T09:00:00.000Z',
      actions: [{ type: 'comment', ok: true, subject_id: expect.stringMatching(/^cmt_/), message: null }],
    })
    const page = await done(member.get(`/automations/${automation.id}/runs?limit=1`))
    expect(page.data).toEqual([runs[0]])
    expect(
      (await done(member.get(`/automations/${automation.id}/runs?limit=1&cursor=${page.next_cursor}`))).data,
    ).toEqual([runs[1]])
    expect((await done(member.get(`/automations/${automation.id}/runs?state=failed`))).data).toEqual([])
    const kept = async () => app.ctx.db.rows(sql`select 1 from automation_runs where automation_id = ${automation.id}`)
    app.clock.advance({ days: 30 })
    await sweep(app.ctx)
    expect(await kept()).toHaveLength(2)
    app.clock.advance({ milliseconds: 1 })
    await sweep(app.ctx)
    expect(await kept()).toHaveLength(0)
  })

  test('is asked for by the owner', verifies('automation.run-now'), async ({ app }) => {
    const { automate, owner, member, newIssue, runsOf, work, commentsOn, robot } = await automationScene(app)
    const automation = await automate({ filter: { priority: ['urgent'] } })
    const scheduled = await automate({
      trigger: { type: 'schedule', cron: '0 0 1 1 *', time_zone: 'UTC' },
      actions: [{ type: 'create_issue', title: 'Yearly' }],
    })
    const made = await newIssue({}, owner)
    const run = (id: string, body: object = {}) => member.post(`/automations/${id}/run`, body)
    await done(member.post(`/automations/${automation.id}/disable`))
    expect(await run(automation.id, { issue_id: made.id })).toMatchObject({
      status: 202,
      body: { cause: 'manual', state: 'pending' },
    })
    expect(await run(scheduled.id)).toMatchObject({ status: 202 })
    await work()
    expect(await runsOf(automation)).toMatchObject([{ cause: 'manual', state: 'done' }])
    expect(await runsOf(scheduled)).toMatchObject([{ cause: 'manual', state: 'done' }])
    expect(await commentsOn(made)).toHaveLength(1)
    for (const [id, body] of [
      [automation.id, {}],
      [automation.id, { issue_id: newId('iss') }],
      [scheduled.id, { issue_id: made.id }],
    ] as const) {
      const refused = await app.unchanged(() => run(id, body))
      expect(refused).toMatchObject({ status: 422, body: { details: { issue_id: expect.any(String) } } })
    }
    const paused = await automate({ actions: [{ type: 'delegate', agent_id: robot.userId }] })
    await done(owner.delete(`/installations/${robot.installationId}`))
    const refused = await app.unchanged(() => run(paused.id, { issue_id: made.id }))
    expect(refused).toMatchObject({ status: 422, body: { details: { state: expect.any(String) } } })
  })
})

describe('loops', () => {
  test('end at depth 3', verifies('automation.loop-depth'), async ({ app }) => {
    const { automate, owner, newIssue, runsOf, work } = await automationScene(app)
    const label = async (name: string) => (await done(owner.post('/labels', { name }))).id
    const labels = [await label('1'), await label('2'), await label('3'), await label('4')]
    const chain = []
    for (const [index, id] of labels.entries()) {
      const next = labels[index + 1]
      const actions = next ? [{ type: 'set_fields' as const, add_label_ids: [next] }] : [comment]
      chain.push(await automate({ trigger: { type: 'issue', on: 'both' }, filter: { label_ids: [id] }, actions }))
    }
    await newIssue({ label_ids: [labels[0]] }, owner)
    await work()
    const runs = await Promise.all(
      chain.map(async (one) => (await runsOf(one)).map(({ state, reason, depth }) => ({ state, reason, depth }))),
    )
    expect(runs).toEqual([
      [{ state: 'done', reason: null, depth: 1 }],
      [{ state: 'done', reason: null, depth: 2 }],
      [{ state: 'done', reason: null, depth: 3 }],
      [{ state: 'skipped', reason: 'loop', depth: 4 }],
    ])
  })

  test('do not run an automation again for its own change', verifies('automation.loop-self'), async ({ app }) => {
    const { automate, member, owner, newIssue, runsOf, work, issue } = await automationScene(app)
    const up = await automate({
      trigger: onChanged,
      filter: { priority: ['low'] },
      actions: [{ type: 'set_fields', priority: 'high' }],
    })
    const down = await automate({
      trigger: onChanged,
      filter: { priority: ['high'] },
      actions: [{ type: 'set_fields', priority: 'low' }],
    })
    const made = await newIssue({}, owner)
    await done(member.put(`/issues/${made.id}`, { priority: 'low' }))
    await work()
    expect(await runsOf(up)).toMatchObject([
      { state: 'skipped', reason: 'loop', depth: 3 },
      { state: 'done', depth: 1 },
    ])
    expect(await runsOf(down)).toMatchObject([{ state: 'done', depth: 2 }])
    expect(await issue(made.id)).toMatchObject({ priority: 'low' })
  })

  test(
    'go through sessions, their outcomes and changes of their agents',
    verifies('automation.loop-depth', 'automation.loop-self'),
    async ({ app }) => {
      const { automate, owner, robot, newIssue, runsOf, work, at, latest, issue } = await automationScene(app)
      const asks = await automate({
        trigger: { type: 'issue', on: 'both' },
        filter: { status: ['qa'] },
        actions: [{ type: 'ask_agent', agent_id: robot.userId, text: 'Look.' }],
      })
      const again = await automate({
        trigger: { type: 'session', outcomes: ['finished'] },
        actions: [{ type: 'ask_agent', agent_id: robot.userId, text: 'Again.' }],
      })
      const made = await newIssue({ status: 'qa' }, owner)
      await work()
      const finish = async () => {
        const session = at((await latest()).id)
        await session.say('response')
        await work()
      }
      await finish()
      await finish()
      expect(await runsOf(again)).toMatchObject([
        { state: 'skipped', reason: 'loop', depth: 3 },
        { state: 'done', depth: 2 },
      ])
      // The agent of that session changes the issue so that the first automation would run again.
      await done(robot.put(`/issues/${made.id}`, { status: 'in_progress' }))
      await done(robot.put(`/issues/${made.id}`, { status: 'qa' }))
      await work()
      expect(await runsOf(asks)).toMatchObject([
        { state: 'skipped', reason: 'loop', depth: 3 },
        { state: 'done', depth: 1 },
      ])
      // A person begins a new chain.
      await done(owner.put(`/issues/${made.id}`, { status: 'in_progress' }))
      await done(owner.put(`/issues/${made.id}`, { status: 'qa' }))
      await work()
      expect((await runsOf(asks))[0]).toMatchObject({ state: 'done', depth: 1 })
      expect(await issue(made.id)).toMatchObject({ status: 'qa' })
    },
  )
})
