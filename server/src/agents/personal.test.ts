import { limits } from '@baton/protocol'
import { expect } from 'vitest'
import { done, say } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { insideScene, typesOf } from '../../test/inside-agents.ts'
import type { AgentStrategy } from './agent-strategy.ts'

test(
  "members create, list, update and delete personal agents, and cannot access other members' agents",
  verifies(
    'agent.personal-create',
    'agent.personal-list',
    'agent.personal-update',
    'agent.personal-delete',
    'agent.three-kinds',
  ),
  async ({ app }) => {
    const { owner, member, scribe } = await insideScene(app)
    await app.installed(owner)
    expect(scribe).toMatchObject({
      name: 'Scribe',
      instructions: 'Be brief.',
      user_kind: 'application',
      agent_kind: 'personal',
    })
    const path = `/agents/personal/${scribe.id}`
    expect((await done(member.get('/agents/personal'))).data).toEqual([scribe])
    expect((await done(owner.get('/agents/personal'))).data).toEqual([])
    for (const call of [owner.patch(path, { name: 'Mine' }), owner.delete(path)]) {
      expect(await call).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
    const changed = await done(member.patch(path, { instructions: 'Be long.' }))
    expect(changed).toMatchObject({ name: 'Scribe', instructions: 'Be long.' })
    const renamed = await done(member.patch(path, { name: 'Clerk' }))
    expect(renamed).toMatchObject({ id: scribe.id, name: 'Clerk', instructions: 'Be long.' })
    expect((await done(member.get('/agents/personal'))).data).toEqual([renamed])
    expect((await done(member.get('/agents'))).data).toMatchObject([{ id: scribe.id, display_name: 'Clerk' }])
    for (const body of [
      { name: 'baton', instructions: '' },
      { name: '', instructions: '' },
      { name: 'Long', instructions: 'x'.repeat(limits.instructions + 1) },
    ]) {
      expect(await app.unchanged(() => member.post('/agents/personal', body))).toMatchObject({ status: 422 })
    }
    const kinds = (await done(member.get('/users/select'))).data.map(
      (one: { user_kind: string; agent_kind: string }) => [one.user_kind, one.agent_kind],
    )
    expect(kinds).toContainEqual(['application', 'personal'])
    expect(kinds).toContainEqual(['application', 'app'])
    expect(kinds).toContainEqual(['application', 'deployment'])
    expect(JSON.stringify(await done(owner.get('/users/select')))).not.toContain(scribe.id)
    expect((await done(member.get('/agents'))).data).toMatchObject([
      { id: scribe.id, agent_kind: 'personal', available: true },
    ])
    expect((await done(owner.get('/agents'))).data).toEqual([])
    await done(member.delete(path))
    expect((await done(member.get('/agents/personal'))).data).toEqual([])
    const actions = (await done(owner.get('/audit-log?limit=5'))).data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual([
      'personal_agent.deleted',
      'personal_agent.updated',
      'personal_agent.updated',
      'app.registered',
      'personal_agent.created',
    ])
  },
)

test('refuses a personal agent over the limit per person', async ({ app }) => {
  const { member } = await app.workspace()
  const make = () => member.post('/agents/personal', { name: 'One of many', instructions: '' })
  for (let made = 0; made < limits.personalAgentsPerPerson; made++) await done(make())
  expect(await app.unchanged(make)).toMatchObject({
    status: 409,
    body: { code: 'PERSONAL_AGENT_LIMIT_REACHED', details: { limit: limits.personalAgentsPerPerson } },
  })
})

test(
  'only the owner can delegate to a personal agent, mention it or write to it',
  verifies(
    'agent.personal-only-owner-delegates',
    'agent.personal-only-owner-mentions',
    'agent.personal-only-owner-prompts',
    'agent.personal-without-model',
    'delegation.personal-agent-owner-only',
    'delegation.personal-agent-of-another',
    'mention.personal-agent-owner-only',
  ),
  async ({ app }) => {
    const { owner, member, scribe, createIssue, sessionOn, readActivities, write } = await insideScene(app)
    const issue = await createIssue({})
    expect(await app.unchanged(() => owner.put(`/issues/${issue.id}`, { delegate_id: scribe.id }))).toMatchObject({
      status: 422,
      body: { code: 'DELEGATE_UNAVAILABLE', details: { reason: 'personal_agent_not_yours' } },
    })
    const at = `@[Scribe](${scribe.id}) please`
    expect((await say(owner, issue, at)).mentioned_user_ids).toEqual([])
    expect(await sessionOn(issue)).toBeUndefined()

    await done(member.put(`/issues/${issue.id}`, { delegate_id: scribe.id }))
    await app.work()
    const session = await sessionOn(issue, owner)
    expect(session).toMatchObject({ state: 'error', ended_at: null, app_user_id: scribe.id })
    expect(await readActivities(session)).toMatchObject([
      { type: 'error', content: { reason_code: 'model_not_configured' } },
    ])
    expect(await done(owner.get('/agents/model'))).toMatchObject({ configured: false, model: null, url_host: null })
    expect(await app.unchanged(() => write(session, 'Do it', {}, owner))).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN' },
    })

    const other = await createIssue({})
    const comment = await say(member, other, at)
    await app.work()
    const thread = await sessionOn(other)
    await say(owner, other, 'And what do you say?', { under: comment })
    expect(typesOf(await readActivities(thread))).toEqual(['error'])
    app.clock.advance({ seconds: 2 })
    await say(member, other, 'Try again', { under: comment })
    await app.work()
    expect(typesOf(await readActivities(thread))).toEqual(['error', 'prompt', 'error'])
  },
)

test(
  'deleting a personal agent, or removing its owner, ends its sessions and releases its issues',
  verifies('agent.personal-deleted'),
  async ({ app }) => {
    const { owner, member, scribe, createIssue, sessionOn } = await insideScene(app)
    const second = await done(member.post('/agents/personal', { name: 'Second', instructions: '' }))
    const [one, two] = [await createIssue({ delegate_id: scribe.id }), await createIssue({ delegate_id: second.id })]
    await done(member.delete(`/agents/personal/${scribe.id}`))
    await app.work()
    expect(await sessionOn(one)).toMatchObject({ end_reason: 'uninstalled', state: 'complete' })
    expect(await done(member.get(`/issues/${one.id}`))).toMatchObject({
      delegate_id: null,
      delegation_revision: 2,
      assignee_id: member.user.id,
    })
    expect(await app.unchanged(() => member.put(`/issues/${one.id}`, { delegate_id: scribe.id }))).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR' },
    })
    expect(await sessionOn(two)).toMatchObject({ end_reason: null })
    await done(owner.delete(`/workspaces/me/members/${member.user.id}`))
    expect(await sessionOn(two, owner)).toMatchObject({ end_reason: 'uninstalled' })
    expect(await done(owner.get(`/issues/${two.id}`))).toMatchObject({ delegate_id: null })
    const actions = (await done(owner.get('/audit-log?limit=2'))).data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(['member.removed', 'personal_agent.deleted'])
  },
)

test(
  "a personal agent accesses shared items, its owner's personal items only in a session on one, and no other personal item",
  verifies('agent.personal-acts-with-owner-access'),
  async ({ app }) => {
    const { owner, member, scribe, team, createIssue, sessionOn } = await insideScene(app)
    const shared = await createIssue({ delegate_id: scribe.id })
    const mine = await createIssue({ team_id: null, personal: true, title: 'Mine' })
    const theirs = await createIssue({ team_id: null, personal: true, title: 'Theirs' }, owner)
    /** Outcomes of the calls below, by the issue of the session. */
    const reached: Record<string, string[]> = {}
    const strategy: AgentStrategy = {
      async work(work, session) {
        const call = async (name: string, input: Record<string, unknown>) => {
          const tool = session.tools.find((one) => one.name === name)
          const outcome = tool && (await session.call(tool, input))
          return outcome?.ok ? 'ok' : (outcome?.refusal.code ?? 'no such tool')
        }
        reached[work.issueId as string] = [
          await call('get_issue', { issue_id: shared.id }),
          await call('get_issue', { issue_id: mine.id }),
          await call('get_issue', { issue_id: theirs.id }),
          await call('update_issue', { issue_id: shared.id, delegate_id: null }),
          await call('update_issue', { issue_id: shared.id, status: 'done' }),
          await call('create_issue', { title: 'From it', team_id: team.id }),
          await call('update_workspace', { name: 'Mine now' }),
        ]
        await session.comment({ type: 'issue', id: work.issueId as string }, 'I was here.')
        await session.respond('Done.')
      },
    }
    await done(member.put(`/issues/${mine.id}`, { delegate_id: scribe.id }))
    await app.work(strategy)
    const never = ['INVALID_DELEGATE', 'APP_STATUS_FORBIDDEN', 'ok', 'no such tool']
    expect(reached[shared.id]).toEqual(['ok', 'TEAM_ACCESS_DENIED', 'TEAM_ACCESS_DENIED', ...never])
    expect(reached[mine.id]).toEqual(['ok', 'ok', 'TEAM_ACCESS_DENIED', ...never])
    expect(await sessionOn(mine)).toMatchObject({ state: 'complete' })
    expect(await sessionOn(mine, owner)).toBeUndefined()
    const comments = await done(member.get(`/comments?target_type=issue&target_id=${mine.id}`))
    expect(comments.data).toMatchObject([{ author_id: scribe.id, text: 'I was here.' }])
  },
)
