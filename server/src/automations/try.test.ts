import { describe, expect } from 'vitest'
import { automationScene, comment, daily, onChanged } from '../../test/automations.ts'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { newId } from '../ids.ts'

describe('a trial', () => {
  test('says what would happen, and changes nothing', verifies('automation.try-changes-nothing'), async ({ app }) => {
    const { draft, member, newIssue, robot, automate, join } = await automationScene(app)
    // Its change would cause a run of another automation.
    await automate({ trigger: { type: 'issue', on: 'both' }, filter: { priority: ['urgent'] } })
    const issue = await newIssue({}, member)
    const trial = {
      ...draft({
        actions: [
          { type: 'set_fields', priority: 'urgent' },
          { type: 'comment', text: '{{issue.code}}' },
          { type: 'ask_agent', agent_id: robot.userId, text: 'Look.' },
          { type: 'delegate', agent_id: robot.userId },
          { type: 'notify', who: 'team' },
        ],
      }),
      issue_id: issue.id,
    }
    const sent: string[] = []
    const { db } = app.ctx
    for (const topic of ['live', 'due', 'work'] as const) db.onCommitted(topic, (messages) => sent.push(...messages))
    const tried = await app.unchanged(() => member.post('/automations/try', trial))
    expect(tried).toMatchObject({ status: 200, body: { would: trial.actions.map(({ type }) => ({ type, ok: true })) } })
    expect(sent).toEqual([])
    const created = await app.unchanged(() =>
      member.post(
        '/automations/try',
        draft({
          trigger: daily(),
          actions: [{ type: 'create_issue', title: 'Report {{date}}', delegate_id: robot.userId }, comment],
        }),
      ),
    )
    expect(created.body).toEqual({
      looked_at: 0,
      matched: 0,
      would: [
        { type: 'create_issue', ok: true, subject_id: null, message: expect.stringContaining('Report 2026-') },
        { type: 'comment', ok: true, subject_id: null, message: null },
      ],
    })
    expect(sent).toEqual([])
    // The next issue has the next code.
    expect(Number((await newIssue({}, member)).code.split('-')[1])).toBe(Number(issue.code.split('-')[1]) + 1)
    const outsider = await join('member')
    expect(await app.unchanged(() => outsider.post('/automations/try', trial))).toMatchObject({ status: 403 })
  })

  test('in a team without issues says what needs one', verifies('automation.try-changes-nothing'), async ({ app }) => {
    const { draft, owner } = await automationScene(app)
    const empty = await done(owner.post('/teams', { name: 'Empty', key: 'EMP' }))
    const notified = (who: 'assignee' | 'reporter' | 'team') => ({ type: 'notify' as const, who })
    const trial = draft({
      team_id: empty.id,
      trigger: { type: 'session', outcomes: ['finished'] },
      actions: [notified('assignee'), notified('reporter'), comment, notified('team')],
    })
    const none = { ok: false, message: 'The team has no issue to try it with.' }
    expect(await app.unchanged(() => owner.post('/automations/try', trial))).toMatchObject({
      status: 200,
      body: { would: [none, none, none, { type: 'notify', ok: true }] },
    })
  })

  test('says why an action would be refused', verifies('automation.try-changes-nothing'), async ({ app }) => {
    const { draft, member, newIssue, robot, owner } = await automationScene(app)
    const issue = await newIssue({}, robot)
    const body = { ...draft({ actions: [{ type: 'delegate', agent_id: robot.userId }, comment] }), issue_id: issue.id }
    const tried = await app.unchanged(() => member.post('/automations/try', body))
    expect(tried.body.would).toMatchObject([{ ok: false, message: 'own_work' }, { ok: true }])
    const other = await app.installed(owner, { scopes: ['read'], teamIds: null })
    const mute = {
      ...draft({ actions: [{ type: 'ask_agent', agent_id: other.userId, text: 'Look' }] }),
      issue_id: issue.id,
    }
    expect((await app.unchanged(() => member.post('/automations/try', mute))).body.would).toMatchObject([
      { ok: false, message: expect.stringMatching(/^DELEGATE_UNAVAILABLE/) },
    ])
    const unknown = await app.unchanged(() => member.post('/automations/try', { ...body, issue_id: newId('iss') }))
    expect(unknown.status).toBe(404)
  })

  test('counts the changes that would have run it', verifies('automation.try-matches'), async ({ app }) => {
    const { draft, member, newIssue, otherTeam } = await automationScene(app)
    const issues = [await newIssue(), await newIssue(), await newIssue({ priority: 'high' })]
    await newIssue({ team_id: otherTeam.id })
    for (const { id } of issues) await done(member.put(`/issues/${id}`, { priority: 'high' }))
    for (const { id } of issues.slice(1)) await done(member.put(`/issues/${id}`, { title: 'Renamed' }))
    const filter = { priority: ['high' as const] }
    const tried = async (fields: object) =>
      await done(member.post('/automations/try', { ...draft(), filter, ...fields }))
    // Three new issues, two changes of priority (the third had it), two titles.
    expect(await tried({ trigger: onChanged })).toMatchObject({ looked_at: 7, matched: 2 })
    expect(await tried({})).toMatchObject({ looked_at: 7, matched: 1 })
    expect(await tried({ trigger: { type: 'issue', on: 'both' } })).toMatchObject({ looked_at: 7, matched: 3 })
    expect(await tried({ filter: {} })).toMatchObject({ looked_at: 7, matched: 3 })
  })
})
