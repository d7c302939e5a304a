import { describe, expect } from 'vitest'
import { bringTo } from '../../test/agent-sessions.ts'
import { automationScene, comment, daily, onChanged, onCreated } from '../../test/automations.ts'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const notifyTeam = [{ type: 'notify', who: 'team' }] as const

describe('a schedule', () => {
  test('runs once at its instant', verifies('automation.runs-at-instant'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, runsOf, reread, work } = await automationScene(app)
    const automation = await automate({ trigger: daily('0 10 * * *'), actions: [...notifyTeam] })
    expect(automation.next_at).toBe('2026-03-02T10:00:00.000Z')
    app.clock.advance({ minutes: 59 })
    await work()
    expect(await runsOf(automation)).toEqual([])
    app.clock.advance({ minutes: 1 })
    await work()
    await work()
    expect(await runsOf(automation)).toMatchObject([{ cause: '2026-03-02T10:00:00.000Z', state: 'done', issue: null }])
    expect(await reread(automation)).toMatchObject({ next_at: '2026-03-03T10:00:00.000Z', last_run: { state: 'done' } })
  })

  test('follows summer time', verifies('automation.dst-gap', 'automation.dst-overlap'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, member, runsOf, work } = await automationScene(app)
    const automation = await automate({ trigger: daily('30 2 * * *', 'Europe/Berlin'), actions: [...notifyTeam] })
    const causesBetween = async (from: string, to: string) => {
      await done(member.post(`/automations/${automation.id}/disable`))
      app.clock.advance({ milliseconds: Date.parse(from) - app.clock.now().getTime() })
      await app.ctx.db.run(
        sql`update logins set expires_at = expires_at + interval '1 year', last_used_at = ${app.clock.now()}`,
      )
      await done(member.post(`/automations/${automation.id}/enable`))
      while (app.clock.now() < new Date(to)) {
        app.clock.advance({ minutes: 30 })
        await work()
      }
      return (await runsOf(automation)).flatMap(({ cause }) => (cause > from && cause <= to ? [cause] : [])).reverse()
    }
    expect(await causesBetween('2026-03-28T23:00:00.000Z', '2026-03-30T01:00:00.000Z')).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
    expect(await causesBetween('2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z')).toEqual([
      '2026-10-25T00:30:00.000Z',
    ])
  })

  test(
    'catches up after downtime',
    verifies('automation.missed-latest', 'automation.missed-too-old'),
    async ({ startApp }) => {
      const app = await startApp()
      const { automate, runsOf, work } = await automationScene(app)
      const hourly = await automate({ trigger: daily('0 * * * *'), actions: [...notifyTeam] })
      const weekly = await automate({ trigger: daily('0 10 * * 1'), actions: [...notifyTeam] })
      app.clock.advance({ hours: 25, minutes: 30 })
      await work()
      expect(await runsOf(hourly)).toMatchObject([
        { cause: '2026-03-03T10:00:00.000Z', state: 'done' },
        { cause: '2026-03-03T09:00:00.000Z', state: 'skipped', reason: 'missed' },
      ])
      expect(await runsOf(weekly)).toMatchObject([
        { cause: '2026-03-02T10:00:00.000Z', state: 'skipped', reason: 'missed' },
      ])
    },
  )
})

describe('a change of an issue', () => {
  test(
    'runs for new issues that match',
    verifies('automation.issue-created', 'automation.issue-other-team', 'automation.run-with-change'),
    async ({ app }) => {
      const { automate, newIssue, runsOf, otherTeam, member } = await automationScene(app)
      const filter = { priority: ['high' as const] }
      const created = await automate({ filter })
      const both = await automate({ filter, trigger: { type: 'issue', on: 'both' } })
      const changed = await automate({ filter, trigger: onChanged })
      await newIssue()
      await newIssue({ priority: 'high', team_id: otherTeam.id })
      await newIssue({ priority: 'high', team_id: null })
      expect(
        await member.post('/issues', {
          title: 'A bug',
          priority: 'high',
          team_id: created.team_id,
          assignee_id: 'usr_none',
        }),
      ).toMatchObject({ status: 422 })
      const issue = await newIssue({ priority: 'high' })
      for (const automation of [created, both]) {
        expect(await runsOf(automation)).toMatchObject([
          { state: 'pending', cause: expect.stringMatching(/^evt_/), issue: { id: issue.id }, depth: 1 },
        ])
      }
      expect(await runsOf(changed)).toEqual([])
    },
  )

  test(
    'runs when the filter begins to hold',
    verifies('automation.issue-changed-to', 'automation.no-reordering'),
    async ({ app }) => {
      const { automate, newIssue, runsOf, member } = await automationScene(app)
      const automation = await automate({ filter: { priority: ['high', 'urgent'] }, trigger: onChanged })
      const issue = await newIssue()
      const change = (fields: object) => done(member.put(`/issues/${issue.id}`, fields))
      await change({ title: 'Another' })
      await change({ sort_order: 7 })
      expect(await runsOf(automation)).toEqual([])
      await change({ priority: 'high' })
      expect(await runsOf(automation)).toHaveLength(1)
      await change({ priority: 'urgent' })
      await change({ title: 'A third' })
      await change({ sort_order: 9 })
      expect(await runsOf(automation)).toHaveLength(1)
      await change({ priority: 'low' })
      await change({ priority: 'high' })
      expect(await runsOf(automation)).toHaveLength(2)
    },
  )

  test('runs for an issue that moves into the team', verifies('automation.issue-moved-in'), async ({ app }) => {
    const { automate, newIssue, runsOf, member, team, otherTeam } = await automationScene(app)
    const automation = await automate({ trigger: onChanged })
    const issue = await newIssue({ team_id: otherTeam.id })
    await done(member.put(`/issues/${issue.id}`, { title: 'Still there' }))
    expect(await runsOf(automation)).toEqual([])
    await done(member.put(`/issues/${issue.id}`, { team_id: team.id }))
    expect(await runsOf(automation)).toHaveLength(1)
  })

  test(
    'does not run for personal and imported issues',
    verifies('automation.no-personal', 'automation.no-import'),
    async ({ app }) => {
      const { automate, newIssue, runsOf, member, owner, team } = await automationScene(app)
      const automation = await automate({ trigger: { type: 'issue', on: 'both' }, filter: { priority: ['high'] } })
      await newIssue({ team_id: undefined, personal: true, priority: 'high' })
      const shared = await newIssue()
      await done(member.put(`/issues/${shared.id}`, { personal: true, priority: 'high' }))
      await done(owner.post('/issues/import', { issues: [{ title: 'Old', team_id: team.id, priority: 'high' }] }))
      expect(await runsOf(automation)).toEqual([])
      await newIssue({ priority: 'high' })
      expect(await runsOf(automation)).toHaveLength(1)
    },
  )

  test('is compared as webhook filters do', verifies('automation.filter-all-keys'), async ({ app, receiver }) => {
    const { automate, newIssue, runsOf, owner, member, robot } = await automationScene(app)
    const [red, blue] = [
      await done(owner.post('/labels', { name: 'Red' })),
      await done(owner.post('/labels', { name: 'Blue' })),
    ]
    const filters = [
      { priority: ['high', 'low'] },
      { priority: ['high'], assignee_id: [null] },
      { assignee_id: [member.user.id, null], type: ['bug'] },
      { label_ids: [red.id, blue.id] },
      { project_id: [null], label_ids: [blue.id], status: ['todo'] },
      {},
    ] as const
    const automations = []
    const hooks = []
    for (const filter of filters) {
      automations.push(await automate({ filter: filter as never }))
      const body = {
        label: 'Hook',
        url: receiver.url,
        resource_types: ['Issue'],
        all_teams: true,
        filters: { Issue: filter },
      }
      hooks.push(await done(owner.post('/webhooks', body)))
    }
    const issues = [
      {},
      { priority: 'high' },
      { priority: 'high', assignee_id: member.user.id, type: 'bug' },
      { priority: 'low', type: 'bug', label_ids: [red.id] },
      { status: 'todo', label_ids: [red.id, blue.id] },
    ]
    for (const fields of issues) await newIssue(fields)
    for (const [index, automation] of automations.entries()) {
      const hook = hooks[index] as { id: string }
      const delivered = await app.ctx.db.rows<{ cause: string }>(sql`
        select d.event_id as cause from deliveries d where d.endpoint_id = ${hook.id} order by 1`)
      const ran = (await runsOf(automation)).map(({ cause }) => cause).sort()
      expect([index, ran]).toEqual([index, delivered.map(({ cause }) => cause)])
      expect(ran.length, `filter ${index}`).toBeGreaterThan(0)
    }
    const byAgent = await automate({ filter: { reporter: 'application' } })
    const byPerson = await automate({ filter: { reporter: 'human', text: 'BROKEN' } })
    const theirs = await newIssue({ title: 'It is broken' }, robot)
    const ours = await newIssue({ title: 'It is broken' })
    await newIssue({ title: 'It works' })
    expect((await runsOf(byAgent)).map(({ issue }) => issue?.id)).toEqual([theirs.id])
    expect((await runsOf(byPerson)).map(({ issue }) => issue?.id)).toEqual([ours.id])
  })
})

describe('an agent session', () => {
  test('runs on its outcomes', verifies('automation.session-outcome'), async ({ app }) => {
    const { automate, delegated, runsOf, otherTeam, owner } = await automationScene(app)
    const on = (outcome: string) => automate({ trigger: { type: 'session', outcomes: [outcome as never] } })
    const outcomes = { finished: 'complete', failed: 'error', asked: 'awaitingInput', stopped: 'stopping' } as const
    for (const [outcome, state] of Object.entries(outcomes)) {
      const automation = await on(outcome)
      const elsewhere = await automate(
        { team_id: otherTeam.id, trigger: { type: 'session', outcomes: [outcome as never] } },
        owner,
      )
      const session = await delegated()
      await session.say('thought')
      expect([outcome, await runsOf(automation)]).toEqual([outcome, []])
      await bringTo(app, session, state)
      const [run, ...more] = await runsOf(automation)
      expect(more).toEqual([])
      expect(run).toMatchObject({ cause: expect.stringMatching(new RegExp(`^${session.id} \\d+$`)), state: 'pending' })
      expect(await runsOf(elsewhere)).toEqual([])
    }
  })

  test('runs once when it goes stale', verifies('automation.session-stale-by-time'), async ({ startApp }) => {
    const app = await startApp()
    const { automate, delegated, runsOf, work, commentsOn } = await automationScene(app)
    const automation = await automate({ trigger: { type: 'session', outcomes: ['stale'] } })
    const session = await delegated()
    app.clock.advance({ minutes: 30 })
    await Promise.all([app.tick(), app.tick()])
    await app.tick()
    await work()
    expect(await runsOf(automation)).toMatchObject([{ state: 'done' }])
    const { issue } = await session.get()
    expect(await commentsOn(issue as { id: string })).toHaveLength(1)
  })
})

test('no run is left by a change that is rolled back', verifies('automation.run-with-change'), async ({ app }) => {
  const { automate, member, team } = await automationScene(app)
  await automate({ trigger: onCreated, actions: [comment] })
  // The second issue is refused, and with it the first.
  const batch = {
    issues: [
      { title: 'One', team_id: team.id },
      { title: 'Two', team_id: team.id, project_id: 'prj_none' },
    ],
  }
  expect(await app.unchanged(() => member.post('/issues/batch', batch))).toMatchObject({ status: 422 })
})
