import { expect } from 'vitest'
import { done, say } from '../../../test/delegation.ts'
import { verifies } from '../../../test/harness.ts'
import { insideScene, lastBody } from '../../../test/inside-agents.ts'
import { calls, callsRaw, modelKey, says, modelTest as test } from '../../../test/model.ts'
import { sql } from '../../db/sql.ts'
import { toolsFor } from '../../tools/catalogue.ts'
import { type Message, openingMessages, PromptTags } from './prompt.ts'

test(
  'the built-in agent works with the model and the MCP tools, and its session shows its actions',
  verifies('agent.deployment-uses-model'),
  async ({ app, model }) => {
    const { member, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
    const issue = await createIssue({ description: 'Since Tuesday.', delegate_id: builtIn })
    await say(member, issue, 'Only on Fridays.')
    const link = { label: 'Graph', url: 'https://graphs.example/1' }
    const plan = (status: string) => ({ plan: [{ content: 'Read the issue', status }] })
    model.play(
      callsRaw(
        [
          { id: 'a', function: { name: 'update_session_plan', arguments: JSON.stringify(plan('inProgress')) } },
          { id: 'b', function: { name: 'get_issue', arguments: JSON.stringify({ issue_id: issue.code }) } },
          { id: 'c', function: { name: 'list_comments', arguments: { target_type: 'issue', target_id: issue.id } } },
        ],
        'I read it first.',
      ),
      calls(
        ['create_comment', { target_type: 'issue', target_id: issue.id, text: 'Looked at.' }],
        ['update_issue', { issue_id: issue.id, priority: 'high' }],
        ['update_session_links', { added_external_urls: [link] }],
      ),
      says('<think>hm</think>It is **slow** on Fridays.'),
    )
    await app.work()

    const [first, second] = model.asked
    expect(first?.path).toBe('/v1/chat/completions')
    expect(first?.headers.authorization).toBe(`Bearer ${modelKey}`)
    expect(first?.body.model).toBe('large-1')
    expect(first?.body.messages.map(({ role }) => role)).toEqual(['system', 'user'])
    const [system, user] = first?.body.messages.map(({ content }) => content ?? '') ?? []
    expect(system).toMatch(/^You are Baton, the built-in agent/)
    expect(user).toContain('<description>Since Tuesday.</description>')
    const offered = first?.body.tools.map((tool) => tool.function.name) ?? []
    // Useless to an agent that is not an app and already has a session; the service reports its usage.
    const asApp = ['get_me', 'open_agent_session', 'post_activity', 'update_session_usage']
    const ofMcp = toolsFor('app').flatMap(({ name }) => (asApp.includes(name) ? [] : [name]))
    expect(offered.toSorted()).toEqual([...ofMcp, 'ask_person'].sort())
    const schemas = JSON.stringify(first?.body.tools)
    expect(schemas).not.toMatch(/"(pattern|format|maxLength|minimum|default)":/)
    expect(schemas).toContain('"status":{"type":"string","enum":["backlog",')
    expect(second?.body.messages.at(2)).toMatchObject({ role: 'assistant', content: 'I read it first.' })
    expect(second?.body.messages.slice(3).map(({ tool_call_id }) => tool_call_id)).toEqual(['a', 'b', 'c'])
    const [shown, read, comments] = model.results(1)
    expect(shown).toBe('Plan updated.')
    expect(read).toMatch(/^<data-([0-9a-f]{16})>\n.*"title":"Login is slow".*\n<\/data-\1>$/s)
    expect(comments).toContain('Only on Fridays.')

    const session = await sessionOn(issue)
    expect(session).toMatchObject({ state: 'complete', ...plan('inProgress'), external_urls: [link] })
    const activities = await readActivities(session)
    expect(activities.map(({ content }) => content)).toEqual([
      { type: 'thought', body: 'Thinking about it.' },
      { type: 'thought', body: 'I read it first.' },
      { type: 'action', action: 'Get issue', parameter: issue.code, result: `${issue.code} Login is slow` },
      {
        type: 'action',
        action: 'List comments',
        parameter: `target_type: issue, target_id: ${issue.id}`,
        result: '1 found',
      },
      expect.not.objectContaining({ result: expect.anything() }),
      expect.objectContaining({ action: 'Create comment', result: 'Looked at.' }),
      expect.not.objectContaining({ result: expect.anything() }),
      expect.objectContaining({ action: 'Update issue', result: `${issue.code} Login is slow` }),
      expect.not.objectContaining({ result: expect.anything() }),
      expect.objectContaining({ action: 'Update session links', result: 'Done' }),
      { type: 'response', body: 'It is **slow** on Fridays.' },
    ])
    expect(activities.map(({ superseded_by_seq }) => superseded_by_seq)).toEqual([
      2,
      null,
      null,
      null,
      ...[6, null, 8, null, 10, null],
      null,
    ])
    expect(await done(member.get(`/issues/${issue.id}`))).toMatchObject({ priority: 'high', title: issue.title })
    const written = await done(member.get(`/comments?target_type=issue&target_id=${issue.id}`))
    expect(written.data.at(-1)).toMatchObject({ author_id: builtIn, text: 'Looked at.' })
  },
)

test(
  'a personal agent receives its instructions and the guidance, and can write what an app can',
  verifies('agent.personal-uses-instructions'),
  async ({ app, model }) => {
    const { owner, member, team, scribe, createIssue, sessionOn, readActivities } = await insideScene(app)
    await done(member.patch(`/agents/personal/${scribe.id}`, { instructions: 'Write like a pirate.' }))
    await done(owner.patch('/workspaces/me', { guidance: 'Ask before you rename.' }))
    await done(owner.patch(`/teams/${team.id}`, { guidance: 'We rename freely.' }))
    const issue = await createIssue({ delegate_id: scribe.id })
    model.play(
      calls(
        ['update_issue', { issue_id: issue.id, title: 'Login be slow' }],
        ['update_issue', { issue_id: issue.id, status: 'done' }],
        ['create_issue', { title: 'Measure the login', team_id: team.id }],
      ),
      says('Arr.'),
    )
    await app.work()
    const [asked] = model.asked
    const system = asked?.body.messages[0]?.content
    expect(system).toMatch(/^You are Scribe, a personal agent/)
    for (const words of ['Write like a pirate.', '(workspace) Ask before you rename.', '(team) We rename freely.']) {
      expect(system).toContain(words)
    }
    expect(asked?.body.tools.map((tool) => tool.function.name)).toContain('update_issue')
    expect(model.results(1)[1]).toContain('APP_STATUS_FORBIDDEN')
    expect(await done(member.get(`/issues/${issue.id}`))).toMatchObject({ title: 'Login be slow', status: 'backlog' })
    const [newest] = (await done(member.get('/issues?limit=1'))).data
    expect(newest).toMatchObject({ title: 'Measure the login', reporter_id: scribe.id })
    const activities = await readActivities(await sessionOn(issue))
    expect(lastBody(activities)).toBe('Arr.')
    const results = activities.flatMap(({ content }) => ('result' in content ? [content.result] : []))
    expect(results).toEqual([
      `${issue.code} Login be slow`,
      expect.stringMatching(/^APP_STATUS_FORBIDDEN: /),
      `${newest.code} Measure the login`,
    ])
  },
)

test('the model can ask a person, and receives the answer with the earlier conversation', async ({ app, model }) => {
  const { owner, member, team, builtIn, createIssue, sessionOn, readActivities, write } = await insideScene(app)
  const issue = await createIssue({})
  const comment = await say(owner, issue, `@[Baton](${builtIn}) which one?`)
  const options = [{ value: 'a', label: 'The first' }, { value: 'b' }]
  model.play(
    calls(['ask_person', { question: '', options }]),
    calls(['ask_person', { question: 'Which?', options }], ['get_workspace', {}]),
  )
  await app.work()
  expect(model.asked[0]?.body.messages[1]?.content).toMatch(/<request-[0-9a-f]{16}>\n@\[Baton\].* which one\?\n/)
  expect(model.results(1)[0]).toContain('VALIDATION_ERROR')
  const session = await sessionOn(issue)
  expect(session.state).toBe('awaitingInput')
  const question = (await readActivities(session)).at(-1)
  expect(question).toMatchObject({ type: 'elicitation', signal: 'select', signal_metadata: { options } })

  const answer = { signal_metadata: { in_reply_to: question?.id, selected: ['b'] } }
  await done(write(session, 'The second', answer))
  model.play(says('Then the second.'))
  await app.work()
  const sent = model.asked[0]?.body.messages.slice(1).map(({ role, content }) => [role, content])
  expect(sent).toEqual([
    ['user', expect.stringContaining('which one?')],
    ['assistant', 'Which?'],
    ['user', expect.stringMatching(/^<request-[0-9a-f]{16}>\nThe second\n\(chosen: b\)\n/)],
  ])
  app.clock.advance({ seconds: 2 })
  await say(member, issue, 'And now?', { under: comment })
  model.play(says('Now as before.'))
  await app.work()
  expect(model.asked[0]?.body.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
  ])
  expect(await sessionOn(issue)).toMatchObject({ state: 'complete' })

  const project = await done(owner.post('/projects', { title: 'Speed', team_ids: [team.id] }))
  await say(owner, project, `@[Baton](${builtIn}) how is it going?`)
  model.play(says('Well.'))
  await app.work()
  const [, user] = model.asked[0]?.body.messages ?? []
  expect(user?.content).toContain(`You were mentioned in a comment on the project ${project.id}.`)
  expect(user?.content).toContain('<title>Speed</title>')
  expect(lastBody(await readActivities(await sessionOn(project)))).toBe('Well.')
})

test('reads only the latest part of a long conversation', async ({ app, model }) => {
  const { member, scribe, createIssue, sessionOn, write } = await insideScene(app)
  const issue = await createIssue({ delegate_id: scribe.id })
  model.play(says('Here I am.'))
  await app.work()
  const session = await sessionOn(issue)
  const { last_seq: last } = await done(member.get(`/agent-sessions/${session.id}/activities`))
  const bodyOf = (seq: number) => `${String(seq).padStart(4, '0')} ${'x'.repeat(395)}`
  // A message, its answer and ten thoughts, repeated.
  const types = (seq: number) => ['prompt', 'response'][seq % 12] ?? 'thought'
  const spoken = Array.from({ length: 2000 }, (_, index) => last + 1 + index)
  await app.ctx.db.run(sql`
    insert into agent_activities (session_id, seq, id, workspace_id, type, content, ephemeral, author_kind, author_id,
      created_at)
    select ${session.id}, s.seq, 'act_' || s.seq, ${member.workspaceId}, s.type,
      jsonb_build_object('type', s.type, 'body', s.body), false,
      case s.type when 'prompt' then 'user' else 'app' end,
      case s.type when 'prompt' then ${member.user.id} else ${scribe.id} end, ${app.clock.now()}
    from unnest(${spoken}::int[], ${spoken.map(types)}::text[], ${spoken.map(bodyOf)}::text[]) as s (seq, type, body)`)
  await app.ctx.db.run(sql`update agent_sessions set last_seq = ${last + 2000} where id = ${session.id}`)
  const words = spoken.filter((seq) => types(seq) !== 'thought')

  await done(write(session, 'And now?'))
  let read = 0
  let opening: Message[] = []
  await app.work({
    async work(work, session) {
      const { earlierMessages } = session
      session.earlierMessages = async function* () {
        for await (const activity of earlierMessages.call(session)) {
          read++
          yield activity
        }
      }
      opening = await openingMessages(work, session, new PromptTags(), '2030-01-01')
      await session.respond('Fine.')
    },
  })
  const text = opening.map(({ content }) => content).join('\n')
  const kept = [...text.matchAll(/(\d+) x{395}/g)].map(([, seq]) => Number(seq))
  expect(kept).toEqual(words.slice(-60))
  expect(read).toBe(kept.length + 1)
  expect(opening.at(-1)?.content).toContain('And now?')
})

test('invalid tool calls are reported to the model, which can correct them', async ({ app, model }) => {
  const { builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const issue = await createIssue({ delegate_id: builtIn, description: 'x'.repeat(90_000) })
  const many = Array.from({ length: 10 }, () => ['get_workspace', ''] as [string, unknown])
  model.play(
    calls(
      ['get_issue', '{"issue_id": '],
      ['get_issue', '["ENG-1"]'],
      ['get_issue', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
      ['rm -rf', {}],
      ['delete_everything', {}],
      ['get_issue', {}],
      ['get_issue', { issue_id: 'ENG-1\0' }],
      ['list_issues', { limit: 5000 }],
    ),
    calls(
      ['update_issue', { issue_id: issue.id, status: 'done' }],
      ['update_issue', { issue_id: issue.id, delegate_id: null }],
      ['post_activity', { content: { type: 'response', body: 'Over' } }],
      ['update_workspace', { name: 'Mine' }],
      ['update_session_plan', {}],
      ['update_session_plan', { plan: [{ content: '', status: 'soon' }] }],
      ['get_issue', { issue_id: issue.id }],
    ),
    callsRaw([null, {}, { id: 'x', function: { name: 'get_workspace' } }, { id: 'x', function: { name: 7 } }]),
    calls(...many),
    says(null),
    says('At last. \0\ud800'),
  )
  await app.work()
  const noObject = 'Not done: the arguments must be a JSON object.'
  expect(model.results(1)).toEqual([
    noObject,
    noObject,
    noObject,
    'There is no tool unknown.',
    'There is no tool delete_everything.',
    expect.stringContaining('"issue_id":"is required"'),
    expect.stringContaining('RESOURCE_NOT_FOUND'),
    expect.stringContaining('must be a whole number from 1 to 100'),
  ])
  expect(model.results(2)).toEqual([
    expect.stringContaining('APP_STATUS_FORBIDDEN'),
    expect.stringContaining('INVALID_DELEGATE'),
    'There is no tool post_activity.',
    'There is no tool update_workspace.',
    expect.stringContaining('VALIDATION_ERROR'),
    expect.stringContaining('VALIDATION_ERROR'),
    expect.stringContaining('[truncated to the first 16000 of'),
  ])
  expect(model.results(3)).toEqual([
    'There is no tool unknown.',
    'There is no tool unknown.',
    expect.stringContaining('"name":"Acme"'),
    'There is no tool unknown.',
  ])
  const ids = model.asked[3]?.body.messages.flatMap(({ tool_call_id }) => tool_call_id ?? []).slice(-4)
  expect(ids).toEqual(['call_1', 'call_2', 'x', 'x_4'])
  expect(model.results(4).filter((result) => result === 'Not done: at most 8 calls per answer.')).toHaveLength(2)
  expect(model.asked[5]?.body.messages.at(-1)).toEqual({
    role: 'user',
    content: 'Your answer was empty. Call a tool or give your final answer.',
  })
  expect(lastBody(await readActivities(await sessionOn(issue)))).toBe('At last. \ufffd')
})

test('fails at the limits for answers, time and conversation size', async ({ app, model }) => {
  const { scribe, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const endless = Array.from({ length: 20 }, () => calls(['get_workspace', {}]))
  const slow = endless.map((turn): typeof turn => (...asked) => {
    app.clock.advance({ seconds: 50 })
    turn(...asked)
  })
  const big = await createIssue({ description: 'x'.repeat(90_000) })
  const greedy = endless.map(() => calls(...Array(8).fill(['get_issue', { issue_id: big.id }])))
  for (const [agent, script, answers, words] of [
    [scribe.id, endless, 12, 'I did not finish within 12 answers'],
    [builtIn, slow, 6, 'I ran out of time'],
    [builtIn, greedy, 3, 'I had more to read'],
  ] as const) {
    const issue = await createIssue({ delegate_id: agent })
    model.play(...script)
    await app.work()
    expect(model.asked.length).toBe(answers)
    const session = await sessionOn(issue)
    expect(session.state).toBe('error')
    const last = (await readActivities(session)).at(-1)
    expect(last).toMatchObject({ type: 'error', content: { reason_code: 'model_limit_reached' } })
    expect(lastBody([last as never])).toMatch(new RegExp(`^${words}`))
  }
})
