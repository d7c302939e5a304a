import { api, automationLimits, type Operation } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { automationScene, comment, daily, onCreated } from '../../test/automations.ts'
import { accepted, makeScene, pathOf, type WriteName } from '../../test/calls.ts'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { programOf } from '../../test/oauth.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'

describe('an automation', () => {
  test('is created by a member of the team, who owns it', verifies('automation.create'), async ({ app }) => {
    const { member, draft, reread } = await automationScene(app)
    const body = draft({ filter: { priority: ['high'] } })
    const created = await member.post('/automations', body)
    expect(created).toMatchObject({
      status: 201,
      body: {
        ...body,
        id: expect.stringMatching(/^aut_/),
        owner_id: member.user.id,
        state: 'on',
        preset: null,
        version: 1,
      },
    })
    expect(await reread(created.body)).toEqual(created.body)
  })

  test('is not created by others', verifies('automation.create-not-in-team'), async ({ app }) => {
    const { join, admin, draft } = await automationScene(app)
    const outsider = await join('member')
    const refused = await app.unchanged(() => outsider.post('/automations', draft()))
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await admin.post('/automations', draft())).toMatchObject({ status: 201 })
  })

  test(
    'has no route for tokens, nor have reviews, triage and insights',
    verifies('automation.session-only'),
    async ({ app }) => {
      const { owner, id, robot, ids } = await makeScene(app)
      const token = await programOf(app, owner, id)
      const program = app.anonymous.with({ authorization: `Bearer ${token}`, 'x-workspace-id': id })
      const forPeople = Object.entries<Operation>(api).filter(
        ([name, { route }]) =>
          name === 'decideSuggestions' || /^\/(automations|reviews|triage|insights)(\/|$)/.test(route.path),
      )
      expect(forPeople.length).toBeGreaterThan(20)
      for (const caller of [robot, program]) {
        for (const [name, operation] of forPeople) {
          const body = accepted[name as WriteName] ?? undefined
          const call = () => caller.request(operation.route.method, pathOf(operation, ids), body)
          const { status, body: refused } = await app.unchanged(call)
          expect({ name, status, code: refused.code }).toEqual({ name, status: 403, code: 'SESSION_ONLY_ROUTE' })
        }
      }
    },
  )

  test('is read by every member of its workspace', verifies('automation.readable-by-members'), async ({ app }) => {
    const { join, automate, team, owner, otherTeam } = await automationScene(app)
    const [automation, elsewhere] = [await automate(), await automationScene(app)]
    const theirs = await elsewhere.automate()
    const other = await automate({ team_id: otherTeam.id }, owner)
    const reader = await join('member')
    expect((await reader.get('/automations')).body.data).toEqual([other, automation])
    expect((await reader.get(`/automations?team_id=${team.id}`)).body.data).toEqual([automation])
    expect((await reader.get(`/automations/${automation.id}`)).body).toEqual(automation)
    expect((await reader.get(`/automations/${automation.id}/runs`)).body.data).toEqual([])
    for (const path of [`/automations/${theirs.id}`, `/automations/${theirs.id}/runs`]) {
      expect(await reader.get(path)).toMatchObject({ status: 404 })
    }
  })

  test('is changed and run by its owner alone', verifies('automation.owner-edits'), async ({ app }) => {
    const { owner, member, automate, newIssue } = await automationScene(app)
    const { id, updated_at } = await automate()
    const issue = await newIssue()
    app.clock.advance({ minutes: 1 })
    for (const call of [
      () => owner.put(`/automations/${id}`, { name: 'Mine' }),
      () => owner.post(`/automations/${id}/run`, { issue_id: issue.id }),
      () => owner.post(`/automations/${id}/enable`),
    ]) {
      expect(await app.unchanged(call)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    }
    const changed = await done(
      member.put(`/automations/${id}`, { name: 'Ours', trigger: daily(), actions: [{ type: 'notify', who: 'team' }] }),
    )
    expect(changed).toMatchObject({ name: 'Ours', version: 2, next_at: '2026-03-03T09:00:00.000Z' })
    expect(changed.updated_at > updated_at).toBe(true)
  })

  test(
    'is turned off, deleted and taken over by managers',
    verifies('automation.manager-controls', 'automation.take-over'),
    async ({ app }) => {
      const { admin, join, member, automate, reread, newIssue, work, commentsOn, owner } = await automationScene(app)
      const [kept, gone] = [await automate(), await automate()]
      const other = await join('member')
      for (const call of [
        () => other.post(`/automations/${kept.id}/disable`),
        () => other.delete(`/automations/${kept.id}`),
        () => other.post(`/automations/${kept.id}/take-over`),
      ]) {
        expect(await app.unchanged(call)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      expect(await admin.delete(`/automations/${gone.id}`)).toMatchObject({ status: 204 })
      expect(await admin.post(`/automations/${kept.id}/disable`)).toMatchObject({ status: 200, body: { state: 'off' } })
      await done(member.post(`/automations/${kept.id}/enable`))
      expect(await done(admin.post(`/automations/${kept.id}/take-over`))).toMatchObject({
        owner_id: admin.user.id,
        state: 'off',
      })
      expect(await member.post(`/automations/${kept.id}/enable`)).toMatchObject({ status: 403 })
      await done(admin.post(`/automations/${kept.id}/enable`))
      expect(await reread(kept)).toMatchObject({ state: 'on', owner_id: admin.user.id })
      const issue = await newIssue({}, owner)
      await work()
      expect(await commentsOn(issue)).toMatchObject([{ author_id: admin.user.id }])
    },
  )

  test('is limited in number', verifies('automation.limit-team'), async ({ app }) => {
    const { id: workspaceId, owner, member, team, otherTeam, draft, automate } = await automationScene(app)
    const copies = async (source: string, count: number, teamId: string) => {
      for (let at = 0; at < count; at++) {
        await app.ctx.db.run(sql`
          insert into automations (id, workspace_id, team_id, owner_id, name, trigger, filter, actions, agent_ids, state, created_at, updated_at)
          select ${newId('aut')}, workspace_id, ${teamId}, owner_id, name, trigger, filter, actions, agent_ids, state, created_at, updated_at
          from automations where id = ${source}`)
      }
    }
    const { id } = await automate()
    await copies(id, automationLimits.perTeam - 2, team.id)
    expect(await member.post('/automations', draft())).toMatchObject({ status: 201 })
    expect(await app.unchanged(() => member.post('/automations', draft()))).toMatchObject({
      status: 409,
      body: { code: 'AUTOMATION_LIMIT_REACHED', details: { limit: 50 } },
    })
    for (let at = 0; at < 3; at++) {
      const { body } = await owner.post('/teams', { name: `Team ${at}`, key: `T${at}` })
      await copies(id, automationLimits.perTeam, body.id)
    }
    await app.ctx.db.run(sql`delete from automations where workspace_id = ${workspaceId} and id = ${id}`)
    expect(await owner.post('/automations', draft({ team_id: otherTeam.id }))).toMatchObject({ status: 201 })
    expect(await owner.post('/automations', draft({ team_id: otherTeam.id }))).toMatchObject({
      status: 409,
      body: { details: { limit: 200 } },
    })
  })

  test('has one to five actions', verifies('automation.actions-1-to-5'), async ({ app }) => {
    const { member, draft } = await automationScene(app)
    for (const count of [0, 6]) {
      const refused = await app.unchanged(() =>
        member.post('/automations', draft({ actions: Array(count).fill(comment) })),
      )
      expect(refused).toMatchObject({ status: 422, body: { details: { actions: expect.any(String) } } })
    }
    expect(await member.post('/automations', draft({ actions: Array(5).fill(comment) }))).toMatchObject({ status: 201 })
  })

  test('refers only to what exists here', verifies('automation.references-checked'), async ({ app }) => {
    const { member, draft, robot } = await automationScene(app)
    const elsewhere = await automationScene(app)
    const theirs = elsewhere.robot.userId
    const project = (await elsewhere.newProject()).id
    const bad = draft({
      filter: { project_id: [project], assignee_id: [elsewhere.member.user.id], label_ids: [newId('lbl')] },
      actions: [
        { type: 'delegate', agent_id: theirs },
        { type: 'create_issue', title: 'New', template_id: newId('tpl'), label_ids: [newId('lbl')] },
        { type: 'notify', user_ids: [member.user.id, elsewhere.member.user.id] },
      ],
    })
    const refused = await app.unchanged(() => member.post('/automations', bad))
    expect(refused.status).toBe(422)
    expect(Object.keys(refused.body.details).sort()).toEqual([
      'actions.0.agent_id',
      'actions.1.label_ids',
      'actions.1.template_id',
      'actions.2.user_ids',
      'filter.assignee_id',
      'filter.label_ids',
      'filter.project_id',
    ])
    const team = await app.unchanged(() => member.post('/automations', draft({ team_id: elsewhere.team.id })))
    expect(team).toMatchObject({ status: 422, body: { details: { team_id: expect.any(String) } } })
    const good = draft({
      filter: { assignee_id: [null, member.user.id] },
      actions: [{ type: 'delegate', agent_id: robot.userId }],
    })
    expect(await member.post('/automations', good)).toMatchObject({ status: 201 })
  })

  test('is in the audit log with each change', verifies('automation.audited'), async ({ app }) => {
    const { owner, member, robot, automate } = await automationScene(app)
    const { id } = await automate({ actions: [{ type: 'delegate', agent_id: robot.userId }] })
    await done(member.put(`/automations/${id}`, { name: 'New' }))
    await done(member.post(`/automations/${id}/disable`))
    await done(member.post(`/automations/${id}/enable`))
    await done(owner.post(`/automations/${id}/take-over`))
    await done(owner.delete(`/installations/${robot.installationId}`))
    await done(owner.delete(`/automations/${id}`))
    const { data } = await done(owner.get('/audit-log'))
    const actions = data.flatMap((one: { action: string; subject_id: string }) =>
      one.subject_id === id ? [one.action] : [],
    )
    expect(actions.reverse()).toEqual(
      ['created', 'updated', 'disabled', 'enabled', 'taken_over', 'paused', 'deleted'].map(
        (name) => `automation.${name}`,
      ),
    )
  })

  test(
    'refuses what its schema and rules do not allow',
    verifies(
      'automation.cron-five-fields',
      'automation.cron-15-minutes',
      'automation.cron-never',
      'automation.time-zone',
      'automation.schedule-first-action',
      'automation.filter-limits',
      'automation.placeholders',
      'automation.actions-1-to-5',
    ),
    async ({ app }) => {
      const { member, draft } = await automationScene(app)
      const cases = [
        [{ trigger: daily('0 9 * * * *') }, 'trigger.cron'],
        [{ trigger: daily('@daily') }, 'trigger.cron'],
        [{ trigger: daily('61 9 * * *') }, 'trigger.cron'],
        [{ trigger: daily('*/14 * * * *') }, 'trigger.cron'],
        [{ trigger: daily('0 0 30 2 *') }, 'trigger.cron'],
        [{ trigger: daily('0 9 * * *', 'Mars/Olympus') }, 'trigger.time_zone'],
        [{ trigger: daily(), actions: [comment] }, 'actions.0.type'],
        [{ filter: { colour: ['red'] } }, 'filter.colour'],
        [{ filter: { text: 'x'.repeat(201) } }, 'filter.text'],
        [{ actions: [{ type: 'comment', text: '{{secret}}' }] }, 'actions.0.text'],
        [{ actions: [{ type: 'notify' }] }, 'actions.0.user_ids'],
        [{ actions: [{ type: 'explode' }] }, 'actions.0.type'],
        [{ actions: [{ type: 'comment', text: 'x', agent_id: 'y' }] }, 'actions.0.agent_id'],
      ] as const
      for (const [fields, field] of cases) {
        const actions =
          'trigger' in fields && !('actions' in fields) ? { actions: [{ type: 'notify', who: 'team' }] } : {}
        const refused = await app.unchanged(() => member.post('/automations', { ...draft(), ...actions, ...fields }))
        expect([field, refused]).toMatchObject([
          field,
          { status: 422, body: { details: { [field]: expect.any(String) } } },
        ])
      }
    },
  )

  test(
    'takes schedules at the limits',
    verifies(
      'automation.cron-five-fields',
      'automation.cron-15-minutes',
      'automation.cron-never',
      'automation.time-zone',
      'automation.schedule-first-action',
      'automation.filter-limits',
    ),
    async ({ app }) => {
      const { member, draft } = await automationScene(app)
      const notify = [{ type: 'notify', who: 'team' }] as const
      for (const trigger of [
        daily('*/15 * * * *'),
        daily('0 0 29 2 *'),
        daily('0 9 * * *', 'Asia/Kathmandu'),
        daily('0 9 * * *', 'UTC'),
      ]) {
        expect(await member.post('/automations', draft({ trigger, actions: [...notify] }))).toMatchObject({
          status: 201,
        })
      }
      const wrong = await app.unchanged(() => member.post('/automations', draft({ trigger: daily() })))
      expect(wrong.body.details).toHaveProperty(['actions.0.type'])
    },
  )

  test(
    'has a filter with at most 50 values of a key and 200 characters of text',
    verifies('automation.filter-limits'),
    async ({ app }) => {
      const { member, draft, owner } = await automationScene(app)
      const labels = await Promise.all(
        Array.from({ length: 51 }, async (_, at) => (await done(owner.post('/labels', { name: `L${at}` }))).id),
      )
      const create = (filter: object) => member.post('/automations', draft({ filter }))
      for (const filter of [{ label_ids: labels.slice(1) }, { text: 'x'.repeat(200) }]) {
        expect(await create(filter)).toMatchObject({ status: 201, body: { filter } })
      }
      const agents = Array.from({ length: 51 }, () => newId('usr'))
      const tooMany = 'must have at most 50 items'
      await app.unchanged(async () => {
        for (const [filter, field, message] of [
          [{ label_ids: labels }, 'filter.label_ids', tooMany],
          [{ agent_id: agents }, 'filter.agent_id', tooMany],
          [{ agent_id: agents.slice(1) }, 'filter.agent_id', 'is only for agent sessions'],
          [{ text: 'x'.repeat(201) }, 'filter.text', expect.any(String)],
        ] as const) {
          expect(await create(filter)).toMatchObject({ status: 422, body: { details: { [field]: message } } })
        }
      })
    },
  )

  test('of the preset triage exists once in a team', verifies('triage.one-per-team'), async ({ app }) => {
    const { owner, member, robot, draft, otherTeam } = await automationScene(app)
    const triage = draft({
      preset: 'triage',
      trigger: onCreated,
      actions: [{ type: 'ask_agent', agent_id: robot.userId, text: 'Sort this.' }],
    })
    expect(await member.post('/automations', triage)).toMatchObject({ status: 201, body: { preset: 'triage' } })
    const second = await app.unchanged(() => owner.post('/automations', triage))
    expect(second).toMatchObject({ status: 422, body: { details: { preset: expect.any(String) } } })
    expect(await owner.post('/automations', { ...triage, team_id: otherTeam.id })).toMatchObject({ status: 201 })
    const wrong = await app.unchanged(() => owner.post('/automations', draft({ preset: 'triage' })))
    expect(wrong).toMatchObject({ status: 422, body: { details: { preset: expect.any(String) } } })
  })
})
