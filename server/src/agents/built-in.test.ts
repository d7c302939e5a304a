import type { AgentActivity } from '@baton/protocol'
import { expect } from 'vitest'
import { done, say } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { insideScene, lastBody, typesOf } from '../../test/inside-agents.ts'
import { sql } from '../db/sql.ts'
import type { Tool } from '../tools/tool.ts'

test(
  'the built-in agent reviews and answers delegated issues of any team, without a webhook',
  verifies(
    'agent.deployment-available-everywhere',
    'agent.deployment-works-on-delegation',
    'agent.deployment-names-missing-facts',
    'agent.sessions-like-apps',
    'agent.no-webhook-involved',
    'agent.deployment-one-per-workspace',
    'delegation.built-in-agent-available-in-every-team',
  ),
  async ({ app }) => {
    const { owner, member, builtIn, team, other, createIssue, sessionOn, readActivities, id } = await insideScene(app)
    for (const team_id of [team.id, other.id, null]) {
      const query = team_id ? `&team_id=${team_id}` : ''
      const listed = (await done(member.get(`/agents?include_deployment=true${query}`))).data
      expect(listed.at(-1)).toMatchObject({ id: builtIn, display_name: 'Baton', available: true })
      const issue = await createIssue({ team_id, type: 'bug', delegate_id: builtIn })
      expect(issue).toMatchObject({ delegate_id: builtIn, assignee_id: member.user.id })
      const session = await sessionOn(issue)
      expect(session).toMatchObject({ state: 'pending', app_user_id: builtIn, unresponsive_since: null })
      await app.work()
      const answered = await sessionOn(issue, owner)
      expect(answered).toMatchObject({ state: 'complete', ended_at: null, unresponsive_since: null })
      expect(answered.plan.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
      const activities = await readActivities(answered)
      expect(typesOf(activities).filter((type) => type === 'action')).toHaveLength(4)
      const { avatar_url } = listed.at(-1)
      expect(avatar_url).toMatch(/^http/)
      const author = { kind: 'app', id: builtIn, name: 'Baton', avatar_url }
      expect(activities.at(-1)).toMatchObject({ type: 'response', author })
      expect(lastBody(activities)).toMatch(/Steps.*Expected and actual result.*Version or environment/s)
      await done(member.delete(`/issues/${issue.id}`))
    }
    const events = await app.ctx.db.rows(
      sql`select 1 from events where workspace_id = ${id} and type = 'AgentSessionEvent'`,
    )
    expect(events).toEqual([])
    expect(await app.ctx.db.rows(sql`select 1 from agent_work`)).toEqual([])
    const agents = await app.ctx.db.rows(sql`
      select 1 from inside_agents n join users u on u.id = n.user_id where workspace_id = ${id} and agent_kind = 'deployment'`)
    expect(agents).toHaveLength(1)
  },
)

test(
  'names a likely duplicate, asks about it until it is linked, links both issues on request, and closes neither',
  verifies('agent.deployment-finds-duplicates'),
  async ({ app }) => {
    const { member, owner, builtIn, createIssue, sessionOn, readActivities, write } = await insideScene(app)
    const older = await createIssue({ title: 'Cart is empty after a lost connection', type: 'bug' })
    await createIssue({ title: 'Invoices show the wrong tax', type: 'bug' })
    const personal = await createIssue({
      title: 'Cart empty: lost connection',
      type: 'bug',
      team_id: null,
      personal: true,
    })
    const issue = await createIssue({
      title: 'App loses the cart when offline',
      type: 'bug',
      description: 'The cart was empty when the connection was lost.',
      delegate_id: builtIn,
    })
    await app.work()
    const session = await sessionOn(issue)
    const activities = await readActivities(session)
    expect(session.state).toBe('awaitingInput')
    expect(typesOf(activities).slice(-2)).toEqual(['response', 'elicitation'])
    expect((await done(member.get('/inbox'))).data).toMatchObject([{ kind: 'agent_needs_you', read_at: null }])
    const question = activities.at(-1) as AgentActivity
    expect(lastBody(activities.slice(0, -1))).toContain(`[${older.code} ${older.title}](${older.url})`)
    expect(JSON.stringify(activities)).not.toContain(personal.code)
    expect(question.signal_metadata).toMatchObject({ options: [{ value: older.id }, { value: 'not_a_duplicate' }] })

    await done(write(session, 'Perhaps, who knows?'))
    await app.work()
    const repeated = (await readActivities(session)).at(-1) as AgentActivity
    expect(lastBody([repeated])).toBe(`I didn't understand that. ${lastBody([question])}`)
    expect(repeated).toMatchObject({ type: 'elicitation', signal_metadata: question.signal_metadata })
    expect((await sessionOn(issue)).state).toBe('awaitingInput')

    const answer = { signal_metadata: { in_reply_to: repeated.id, selected: [older.id] } }
    await done(write(session, `Link as duplicate of ${older.code}`, answer))
    await app.work()
    const comments = async (on: { id: string }) =>
      (await done(member.get(`/comments?target_type=issue&target_id=${on.id}`))).data
    expect(await comments(issue)).toMatchObject([{ author_id: builtIn, text: expect.stringContaining(older.url) }])
    expect(await comments(older)).toMatchObject([{ author_id: builtIn, text: expect.stringContaining(issue.url) }])
    expect(lastBody(await readActivities(session))).toMatch(/^I linked both issues/)
    expect((await sessionOn(issue)).state).toBe('complete')
    for (const one of [issue, older]) {
      expect(await done(member.get(`/issues/${one.id}`))).toMatchObject({ status: 'backlog' })
    }
    app.clock.advance({ seconds: 2 })
    await done(write(session, `link ${older.code}`))
    await app.work()
    expect(await comments(older)).toHaveLength(1)
    app.clock.advance({ seconds: 2 })
    await done(write(session, 'link ENG-999'))
    await done(write(session, 'What is the meaning of life?'))
    await app.work()
    const bodies = (await readActivities(session)).slice(-2).map(({ content }) => (content as { body: string }).body)
    expect(bodies[0]).toBe("I can't find ENG-999, or I don't have access to it.")
    expect(bodies[1]).toMatch(/without a language model/)
    app.clock.advance({ seconds: 2 })
    await done(write(session, 'look again'))
    await app.work()
    const again = (await readActivities(session)).slice(activities.length + 2)
    expect(typesOf(again)).not.toContain('elicitation')
    expect(lastBody(again)).not.toContain('Likely duplicate')
    expect(lastBody(again)).toContain(`Linked as a duplicate: [${older.code} ${older.title}](${older.url}).`)

    await done(member.put(`/issues/${older.id}`, { delegate_id: builtIn }))
    await app.work()
    const other = await readActivities(await sessionOn(older))
    expect(typesOf(other)).not.toContain('elicitation')
    expect(lastBody(other)).toContain(`Linked as a duplicate: [${issue.code} `)

    const [comment] = await comments(issue)
    await done(owner.delete(`/comments/${comment.id}`))
    app.clock.advance({ seconds: 2 })
    await done(write(session, 'look again'))
    await app.work()
    expect(lastBody((await readActivities(session)).slice(0, -1))).toContain('Likely duplicate')

    // The question is repeated once.
    for (const last of ['elicitation', 'response']) {
      app.clock.advance({ seconds: 2 })
      await done(write(session, 'Perhaps, who knows?'))
      await app.work()
      expect((await readActivities(session)).at(-1)?.type).toBe(last)
    }
    expect((await sessionOn(issue)).state).toBe('complete')
  },
)

test(
  'a mention on an issue or project opens a session, and replies are messages to it',
  verifies('agent.deployment-works-on-mention'),
  async ({ app }) => {
    const { member, owner, builtIn, team, createIssue, sessionOn, readActivities } = await insideScene(app)
    const at = `@[Baton](${builtIn})`
    const issue = await createIssue({ type: 'feature' })
    const comment = await say(owner, issue, `${at} have a look`)
    expect(comment.mentioned_user_ids).toEqual([builtIn])
    await app.work()
    const session = await sessionOn(issue)
    expect(session).toMatchObject({ state: 'complete', comment: { id: comment.id } })
    expect(session.plan).toHaveLength(4)
    expect(typesOf(await readActivities(session))).toEqual(['action', 'action', 'action', 'action', 'response'])
    app.clock.advance({ seconds: 2 })
    await say(member, issue, 'not a duplicate', { under: comment })
    await app.work()
    expect(lastBody(await readActivities(session))).toBe("OK, I won't link it.")

    const project = await done(owner.post('/projects', { title: 'Speed', team_ids: [team.id] }))
    await done(member.put(`/issues/${issue.id}`, { project_id: project.id }))
    await say(member, project, `${at} how is it going?`)
    await app.work()
    const onProject = await sessionOn(project)
    expect(onProject).toMatchObject({ state: 'complete', issue: null })
    expect(lastBody(await readActivities(onProject))).toContain(`**Speed**: 1 issue · 1 backlog`)
  },
)

test('without a model the built-in agent can only read and comment', async ({ app }) => {
  const { member, builtIn, team, createIssue } = await insideScene(app)
  const issue = await createIssue({ delegate_id: builtIn })
  const answers: unknown[] = []
  await app.work({
    async work(_, session) {
      expect(session.tools.map(({ name }) => name)).not.toContain('update_issue')
      for (const [name, input] of [
        ['update_issue', { issue_id: issue.id, title: 'Mine' }],
        ['delete_issue', { issue_id: issue.id }],
        ['create_issue', { title: 'Another', team_id: team.id }],
        ['create_comment', { target_type: 'issue', target_id: issue.id, text: 'Hello' }],
      ] as const) {
        const outcome = await session.call(session.findTool(name) as Tool, input)
        answers.push(outcome.ok || outcome.refusal.code)
      }
      await session.respond('Done.')
    },
  })
  expect(answers).toEqual([...Array(3).fill('INSUFFICIENT_SCOPE'), true])
  expect((await done(member.get('/issues'))).data).toMatchObject([{ id: issue.id, title: issue.title }])
})

test('the built-in agent refuses personal issues and does not read internal comments', async ({ app }) => {
  const { member, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const mine = await createIssue({ team_id: null, personal: true })
  expect(await app.unchanged(() => member.put(`/issues/${mine.id}`, { delegate_id: builtIn }))).toMatchObject({
    status: 422,
    body: { code: 'DELEGATE_UNAVAILABLE', details: { reason: 'app_not_installed_for_team' } },
  })
  await say(member, mine, `@[Baton](${builtIn}) look`)
  expect(await sessionOn(mine)).toBeUndefined()
  const issue = await createIssue({ delegate_id: builtIn, type: 'bug', description: 'Slow.' })
  await say(member, issue, 'Steps: wait. It should be quick. iOS 19', { internal: true })
  await app.work()
  expect(lastBody(await readActivities(await sessionOn(issue)))).toContain('**Steps**')
})
