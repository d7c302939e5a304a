import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LinearClient as Client58, LinearWebhooks as Webhooks58 } from 'linear-sdk-58'
import { LinearClient as Client76 } from 'linear-sdk-76'
import { LinearClient as Client98 } from 'linear-sdk-98'
import { LinearWebhookClient as Webhooks98 } from 'linear-sdk-98/webhooks'
import { describe, expect, vi } from 'vitest'
import { Shell } from '../cli/test/baton.ts'
import { idOf, uuidOf } from '../server/src/linear-shape/ids.ts'
import { type TestApp, test, verifies } from '../server/test/harness.ts'
import { installedLinearApp } from '../server/test/linear.ts'
import type { Received, Receiver } from '../server/test/receiver.ts'

async function scene(app: TestApp, receiver: Receiver) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  await owner.patch(`/teams/${team.id}`, { repositories: [{ repository: 'acme/shop' }] })
  const label = (await owner.post('/labels', { name: 'Bug' })).body
  const issue = (
    await member.post('/issues', {
      title: 'Fix the door',
      team_id: team.id,
      label_ids: [label.id],
      assignee_id: member.user.id,
    })
  ).body
  const robot = await installedLinearApp(app, owner, { receiver })
  const receivedDuring = async (work: () => Promise<unknown>) => {
    await app.deliver()
    receiver.take()
    await work()
    await app.deliver()
    return receiver.take()
  }
  const options = { accessToken: robot.token, apiUrl: `${app.rootUrl}/linear/graphql` }
  const delegate = async () => {
    const [created] = await receivedDuring(() =>
      member.put(`/issues/${issue.id}`, { delegate_id: idOf('usr', robot.viewerId) }),
    )
    return created as Received
  }
  return { ...workspace, team, label, issue, robot, options, receivedDuring, delegate }
}

/** The library compares with the real time; the service under test has its own clock. */
function at<T>(now: Date, work: () => T): T {
  vi.useFakeTimers({ now, toFake: ['Date'] })
  try {
    return work()
  } finally {
    vi.useRealTimers()
  }
}

const versions = [
  ['58', Client58, verifies('linear.sdk-58')],
  ['76', Client76, {}],
  ['98', Client98, verifies('linear.sdk-98', 'linear.constructor-fields')],
] as const

describe.each(versions)('@linear/sdk %s', (version, Client, cited) => {
  test('reads, converses, and stops', cited, async ({ app, receiver }) => {
    const { issue, team, label, member, robot, options, receivedDuring, delegate, id } = await scene(app, receiver)
    // The methods that all versions have.
    const sdk = new Client(options) as unknown as Client98
    const viewer = await sdk.viewer
    const organization = await sdk.organization
    expect([viewer.id, organization.id]).toEqual([robot.viewerId, uuidOf(id)])

    const created = await delegate()
    expect(created.body.agentSession.issue.identifier).toBe(issue.code)
    const sessionId: string = created.body.agentSession.id
    const found = await sdk.issue(issue.code)
    expect(found.branchName).toBe('eng-1-fix-the-door')
    const [foundTeam, state, assignee, labels] = await Promise.all([
      found.team,
      found.state,
      found.assignee,
      found.labels(),
    ])
    expect(foundTeam?.key).toBe('ENG')
    expect(state?.type).toBe('backlog')
    expect(assignee?.name).toBe(member.user.display_name)
    expect(labels.nodes.map(({ name }) => name)).toEqual(['Bug'])
    const states = await foundTeam?.states({ filter: { type: { eq: 'started' } } })
    expect(states?.nodes.map(({ name }) => name)).toEqual(['In Progress', 'QA', 'Release'])

    const first = await sdk.createAgentActivity({
      agentSessionId: sessionId,
      content: { type: 'thought', body: 'Looking' },
    })
    expect(first.success).toBe(true)
    expect((await first.agentActivity)?.content).toMatchObject({ type: 'thought', body: 'Looking' })
    await sdk.agentSessionUpdateExternalUrl(sessionId, { externalLink: 'https://example.com/run' })
    const session = await sdk.agentSession(sessionId)
    expect([session.status, session.externalLink]).toEqual(['active', 'https://example.com/run'])
    expect((await session.issue)?.id).toBe(uuidOf(issue.id))
    expect((await session.activities()).nodes.map(({ content }) => content.type)).toEqual(['thought'])

    if (version !== '58') {
      await sdk.updateAgentSession(sessionId, { plan: [{ content: 'Oil the hinges', status: 'inProgress' }] })
      const suggested = await sdk.issueRepositorySuggestions(
        [{ hostname: 'github.com', repositoryFullName: 'acme/shop' }],
        found.id,
      )
      expect(suggested.suggestions.map(({ confidence }) => confidence)).toEqual([0.9])
    }
    const comment = await (await sdk.createComment({ issueId: found.id, body: 'Started' })).comment
    const changed = await (await sdk.updateComment(comment?.id ?? '', { body: 'Started.' })).comment
    expect(changed?.body).toBe('Started.')
    expect((await found.comments()).nodes.map(({ body }) => body)).toEqual(['Started.'])
    const moved = await (await sdk.updateIssue(found.id, { stateId: states?.nodes[0]?.id ?? '' })).issue
    expect((await moved?.state)?.name).toBe('In Progress')
    const made = await (await sdk.createIssueLabel({ name: 'Door', teamId: uuidOf(team.id) })).issueLabel
    expect(made?.name).toBe('Door')
    expect((await sdk.issueLabels({ filter: { name: { eq: 'Bug' } } })).nodes.map((one) => one.id)).toEqual([
      uuidOf(label.id),
    ])

    const path = `/agent-sessions/${idOf('sess', sessionId)}`
    const [prompted] = await receivedDuring(() =>
      member.post(`${path}/activities`, { content: { type: 'prompt', body: 'And the lock?' } }),
    )
    expect(prompted?.body.agentActivity.content.body).toBe('And the lock?')
    const [stopped] = await receivedDuring(() => member.post(`${path}/stop`))
    expect(stopped?.body.agentActivity.signal).toBe('stop')
    await sdk.createAgentActivity({ agentSessionId: sessionId, content: { type: 'response', body: 'Stopped.' } })
    expect((await sdk.agentSession(sessionId)).status).toBe('complete')
  })

  test('reads pages of 250', version === '98' ? verifies('linear.bound-cost') : {}, async ({ app, receiver }) => {
    const { issue, options, delegate } = await scene(app, receiver)
    await delegate()
    const sdk = new Client(options) as unknown as Client98
    const page = { first: 250 }
    const found = await sdk.issue(issue.code)
    const team = await found.team
    const pages = await Promise.all([
      sdk.issues(page),
      sdk.projects(page),
      sdk.teams(page),
      sdk.users(page),
      sdk.issueLabels(page),
      sdk.agentSessions(page),
      sdk.comments({ ...page, filter: { issue: { id: { eq: found.id } } } }),
      found.comments(page),
      found.children(page),
      found.labels(page),
      found.relations(page),
      found.attachments(page),
      team?.issues(page),
      team?.members(page),
    ])
    expect(pages.map((one) => Array.isArray(one?.nodes))).toEqual(pages.map(() => true))
    expect(pages[0]?.nodes).toHaveLength(1)
  })

  test(
    'tells errors apart',
    version === '98' ? verifies('linear.error-auth', 'linear.error-ratelimited') : {},
    async ({ app, receiver, startApp }) => {
      const { options, robot, owner } = await scene(app, receiver)
      const refused = new Client({ ...options, accessToken: 'lin_oauth_unknown' }) as unknown as Client98
      await expect(refused.viewer).rejects.toMatchObject({ type: 'AuthenticationError', status: 401 })
      const sdk = new Client(options) as unknown as Client98
      await expect(sdk.issue('NO-1')).rejects.toMatchObject({ type: 'InvalidInput' })
      await expect(sdk.createReaction({ commentId: robot.viewerId, emoji: 'x' })).rejects.toMatchObject({
        type: 'FeatureNotAccessible',
      })
      expect(owner.workspaceId).toBeTruthy()
      const limited = await startApp({ BATON_API_RATE: '2' })
      const there = await scene(limited, receiver)
      const slow = new Client(there.options) as unknown as Client98
      await slow.viewer
      await expect(slow.viewer).rejects.toMatchObject({ type: 'Ratelimited', status: 429 })
    },
  )
})

test('the webhook clients verify deliveries', verifies('linear.event-verified-by-sdk'), async ({ app, receiver }) => {
  const { robot, delegate } = await scene(app, receiver)
  const created = await delegate()
  const signature = String(created.headers['linear-signature'])
  const timestamp = created.body.webhookTimestamp
  for (const Webhooks of [Webhooks58, Webhooks98]) {
    const verify = (secret: string) =>
      at(app.clock.now(), () => new Webhooks(secret).verify(created.raw, signature, timestamp))
    expect(verify(robot.webhook_secret)).toBe(true)
    expect(() => verify('another')).toThrow()
  }
})

test(
  'a program without an address of its own reaches Baton',
  verifies('linear.cli-preload'),
  async ({ app, receiver }) => {
    const { owner, robot } = await scene(app, receiver)
    const shell = await Shell.of(owner, app.rootUrl)
    const imports = ['linear-sdk-58', 'linear-sdk-98'].map((name) => JSON.stringify(import.meta.resolve(name)))
    await writeFile(
      join(shell.cwd, 'agent.mjs'),
      `for (const name of [${imports}]) {
      const { LinearClient } = await import(name)
      console.log((await new LinearClient({ accessToken: process.argv[2] }).viewer).id)
    }`,
    )
    const ended = await shell.run(['linear', '--', process.execPath, 'agent.mjs', robot.token])
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({
      code: 0,
      stdout: `${robot.viewerId}\n${robot.viewerId}\n`,
    })
  },
)
