import { describe, expect } from 'vitest'
import { automationScene, comment } from '../../test/automations.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { AutomationWorker } from './worker.ts'

describe('concurrently', () => {
  test(
    'two workers do each run once, those of an automation in order',
    verifiesOnPostgres('automation.once-on-nodes', 'automation.in-order'),
    async ({ startApp }) => {
      const app = await startApp()
      const beside = await startApp({}, app)
      const { id: workspaceId, automate, owner, newIssue } = await automationScene(app)
      const automations = await Promise.all(
        Array.from({ length: 4 }, () =>
          automate({
            actions: [comment, { type: 'create_issue', title: 'Follow-up', status: 'done' }],
            filter: { status: ['todo'] },
          }),
        ),
      )
      const workers = [app, app, beside, beside].map(({ ctx }) => new AutomationWorker(ctx))
      const issues = 12
      const making = (async () => {
        for (let at = 0; at < issues; at += 3)
          await Promise.all([0, 1, 2].map(() => newIssue({ status: 'todo' }, owner)))
      })()
      const drain = async () => {
        for (let at = 0; at < 6; at++) await Promise.all(workers.map((worker) => worker.drain()))
      }
      await Promise.all([making, drain()])
      await drain()
      for (const { id } of automations) {
        const runs = await app.ctx.db.rows<{ state: string; issueId: string }>(sql`
        select state, issue_id as "issueId" from automation_runs where automation_id = ${id} order by id`)
        expect(runs.map(({ state }) => state)).toEqual(Array(issues).fill('done'))
        const said = await app.ctx.db.rows<{ issueId: string }>(sql`
        select issue_id as "issueId" from comments where automation_id = ${id} order by id`)
        expect(said.map(({ issueId }) => issueId).sort()).toEqual(runs.map(({ issueId }) => issueId).sort())
      }
      const created = await app.ctx.db.row<{ count: number }>(sql`
      select count(*)::int as count from issues where workspace_id = ${workspaceId} and title = 'Follow-up'`)
      expect(created?.count).toBe(issues * automations.length)
    },
  )

  test(
    'two workers see a stale session and an instant once',
    verifiesOnPostgres('automation.session-stale-by-time', 'automation.runs-at-instant'),
    async ({ startApp }) => {
      const app = await startApp()
      const beside = await startApp({}, app)
      const { automate, delegated, runsOf } = await automationScene(app)
      const stale = await automate({ trigger: { type: 'session', outcomes: ['stale'] } })
      const scheduled = await automate({
        trigger: { type: 'schedule', cron: '30 9 * * *', time_zone: 'UTC' },
        actions: [{ type: 'notify', who: 'team' }],
      })
      await delegated()
      app.clock.advance({ minutes: 30 })
      await Promise.all([app.tick(), beside.tick(), app.tick(), beside.tick()])
      await Promise.all([app, beside, app, beside].map((one) => one.workOnAutomations()))
      await app.workOnAutomations()
      expect(await runsOf(stale)).toMatchObject([{ state: 'done' }])
      expect(await runsOf(scheduled)).toMatchObject([{ state: 'done', cause: '2026-03-02T09:30:00.000Z' }])
    },
  )

  test(
    'an owner who leaves, or an automation that is turned off, acts before it or not at all',
    verifiesOnPostgres('automation.owner-left', 'automation.owner-authority'),
    async ({ app }) => {
      for (let round = 0; round < 6; round++) {
        const { automate, owner, member, newIssue, runsOf, commentsOn, reread } = await automationScene(app)
        const automation = await automate()
        const made = await newIssue({}, owner)
        const leave =
          round % 2 === 0
            ? owner.delete(`/workspaces/me/members/${member.user.id}`)
            : owner.post(`/automations/${automation.id}/disable`)
        const [left] = await Promise.all([leave, app.workOnAutomations()])
        expect(left.status).toBeLessThan(300)
        const [run] = await runsOf(automation)
        expect(await commentsOn(made)).toHaveLength(run?.state === 'done' ? 1 : 0)
        // The worker read the automation before or after the member was gone.
        if (run?.state !== 'done') expect(['off', 'owner_not_allowed']).toContain(run?.reason)
        expect(await reread(automation)).toMatchObject(
          round % 2 === 0 ? { state: 'paused', paused_reason: 'owner_left' } : { state: 'off' },
        )
      }
    },
  )

  test('creates do not exceed the limit', verifiesOnPostgres('automation.limit-team'), async ({ app }) => {
    const { member, owner, draft, automate, team } = await automationScene(app)
    const { id } = await automate()
    await app.ctx.db.run(sql`
      insert into automations (id, workspace_id, team_id, owner_id, name, trigger, filter, actions, agent_ids, state, created_at, updated_at)
      select id || n, workspace_id, team_id, owner_id, name, trigger, filter, actions, agent_ids, 'off', created_at, updated_at
      from automations, generate_series(1, 48) n where id = ${id}`)
    const answers = await Promise.all([member, owner, member].map((one) => one.post('/automations', draft())))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    await app.ctx.db.run(sql`delete from automations where team_id = ${team.id} and id <> ${id}`)
  })
})
