import { BatonClient, type Issue } from '@baton/sdk'
import { A2aServer } from '../../server/test/a2a-server.ts'
import { type PullRequestFields, pullRequest, push, repositoryFields, signed } from '../../server/test/git-payloads.ts'
import { Receiver } from '../../server/test/receiver.ts'
import { installUrl, ScriptedAgent } from './agents.ts'
import { changesOf, fileOf, omittedFile } from './changes.ts'
import { type Person, signUp } from './company.ts'
import type { Settings } from './service.ts'

/** Agents are unresponsive after a second, stopping lasts an hour, and a delivery waits an hour after two failures. */
export const demoSettings: Settings = {
  BATON_DEMO: '1',
  BATON_UNRESPONSIVE_AFTER: '1',
  BATON_STOPPING_TIMEOUT: '3600',
  BATON_RETRY_DELAYS: '1,3600',
}

/** One demo session for each state. */
const sessionStates = ['working', 'asking', 'connecting', 'complete', 'failed', 'stopping', 'silent'] as const
export type DemoSessionState = (typeof sessionStates)[number]

export interface Demo {
  ada: Person
  /** A member without management rights. */
  mei: Person
  /** A user without a workspace. */
  newcomer: Pick<Person, 'email' | 'password' | 'api'>
  invitationToken: string
  issues: Record<DemoSessionState, Issue>
  /** An issue that Baton has answered, and one that a personal agent could not work on without a model. */
  inside: { answered: Issue; unable: Issue }
  /** The session of the completed issue, which has changes and usage. */
  changedSessionId: string
  teamId: string
  /** Design, which no agent app depends on. */
  deletableTeamId: string
  projectId: string
  appId: string
  /** An app that is not installed; a member requested it. */
  requestedAppId: string
  /** An A2A agent, and the address of its card. */
  a2aAppId: string
  cardUrl: string
  /** The /oauth/authorize URL of another app, for each user. */
  installUrl: { ada: string; mei: string }
  webhookId: string
  deliveryId: string
  gitConnectionId: string
  /** Has run once. */
  automationId: string
}

/** The demo workspace of the first start, with working agents. */
export async function withDemo(url: string, work: (demo: Demo) => Promise<void>) {
  const ada = await demoPerson(url, 'ada', 'owner')
  const mei = await demoPerson(url, 'mei', 'member')
  const robot = await ScriptedAgent.register(ada, { name: 'Mender', resourceTypes: ['Issue'] })
  const scribe = await ScriptedAgent.register(mei, { name: 'Scribe' })
  const receiver = await Receiver.start()
  const echo = await A2aServer.start()
  try {
    await robot.install(ada)
    await mei.api.requestInstall({ app_id: scribe.registered.app.id })
    const { app: a2a } = await ada.api.createA2aApp({
      card_url: echo.origin,
      scopes: ['app:assignable'],
      all_teams: true,
      credential: { type: 'bearer', token: 'token' },
    })
    const issues = await createSessions(ada, robot)
    const inside = await delegateInside(ada)
    const account = await signUp(url, 'Nora Newcomer')
    const { token } = await ada.api.createInvitation({ email: account.email, role: 'member' })
    const { data: teams } = await ada.api.listTeams()
    const { data: projects } = await ada.api.listProjects()
    const { data: sessions } = await ada.api.listAgentSessions({ issue_id: issues.complete.id })
    await createCycles(ada, issues.working.team_id ?? '')
    await work({
      ada,
      mei,
      newcomer: { ...account, api: new BatonClient({ baseUrl: url, token: account.token }) },
      invitationToken: token,
      issues,
      inside,
      changedSessionId: sessions[0]?.id ?? '',
      teamId: issues.working.team_id ?? '',
      deletableTeamId: teams.find(({ key }) => key === 'DES')?.id ?? '',
      projectId: projects[0]?.id ?? '',
      appId: robot.registered.app.id,
      requestedAppId: scribe.registered.app.id,
      a2aAppId: a2a.id,
      cardUrl: echo.origin,
      installUrl: {
        ada: await installUrl(ada, scribe.registered),
        mei: await installUrl(mei, scribe.registered),
      },
      ...(await deliveries(ada, receiver, issues.complete)),
      gitConnectionId: await connectGit(url, ada, issues.complete),
      automationId: await automate(ada, issues.working),
    })
  } finally {
    await Promise.all([robot.close(), scribe.close(), receiver.stop(), echo.stop()])
  }
}

/** An automation that ran for an issue, and a schedule. */
async function automate({ api }: Person, { id, team_id }: Issue): Promise<string> {
  const draft = {
    team_id: team_id ?? '',
    trigger: { type: 'issue', on: 'both' } as const,
    filter: { type: ['bug' as const], priority: ['urgent' as const] },
  }
  const actions = [{ type: 'notify' as const, who: 'team' as const }]
  const automation = await api.createAutomation({ ...draft, name: 'Tell us about urgent bugs', actions })
  await api.runAutomation({ automation_id: automation.id, issue_id: id })
  const trigger = { type: 'schedule', cron: '0 9 * * 1', time_zone: 'Europe/Zurich' } as const
  const weekly = [{ type: 'create_issue' as const, title: 'Report of {{week}}', skip_if_open: true }]
  await api.createAutomation({ team_id: draft.team_id, name: 'Weekly report', trigger, actions: weekly })
  return automation.id
}

/** Pull requests in several states and a branch, all of one issue. */
async function connectGit(url: string, { api }: Person, { code }: Issue): Promise<string> {
  const { id, secret } = await api.createGitConnection({ kind: 'github', name: 'Shop', repositories: ['acme/shop'] })
  const send = async (body: object, event: string) => {
    const raw = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', ...signed('github', secret, raw, event) }
    await fetch(`${url}/hooks/git/${id}`, { method: 'POST', headers: headers as Record<string, string>, body: raw })
  }
  const report = (number: number, fields: PullRequestFields) =>
    send(pullRequest({ number, body: `Part of ${code}`, sha: `${number}`.repeat(40), ...fields }), 'pull_request')
  await send({ zen: 'Ping' }, 'ping')
  await send(push(`mei/${code.toLowerCase()}-cart-total`, { at: Math.floor(Date.now() / 1000) }), 'push')
  await report(1, { title: 'Compute the total in one place', merged: true, action: 'closed' })
  await report(2, { title: 'Show the coupon in the summary of the order, also on small screens', reviewers: ['mei'] })
  await report(3, { title: 'Round prices of foreign currencies', draft: true, from: 'jonas/shop' })
  for (const [number, state] of ['success', 'success', 'pending'].entries()) {
    const status = { id: number, sha: `${number + 1}`.repeat(40), state, context: 'ci', updated_at: new Date() }
    await send({ ...status, repository: repositoryFields() }, 'status')
  }
  return id
}

/** One that has ended, a current one and an upcoming one. */
async function createCycles({ api }: Person, team_id: string) {
  const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  for (const [index, start] of [-21, -7, 7].entries()) {
    await api.createCycle({
      team_id,
      name: `Cycle ${index + 1}`,
      starts_at: dayAfter(start),
      ends_at: dayAfter(start + 14),
    })
  }
}

export async function demoPerson(url: string, name: string, role: Person['role']): Promise<Person> {
  const account = { email: `${name}@demo.example`, password: 'baton-demo' }
  const { user, token } = await new BatonClient({ baseUrl: url }).signIn(account)
  const me = await new BatonClient({ baseUrl: url, token }).getMe()
  const workspaceId = 'workspaces' in me ? (me.workspaces[0]?.id ?? '') : ''
  const api = new BatonClient({ baseUrl: url, token, workspaceId })
  return { ...account, id: user.id, name: user.display_name, role, token, workspaceId, api }
}

const oneTotal = changesOf([
  fileOf('src/cart/cart.ts', [
    " import { total } from './total.ts'",
    ' ',
    '-const sum = cart.lines.reduce((sum, line) => sum + line.price, 0) - (coupon?.amount ?? 0)',
    '-export const payable = Math.max(0, sum)',
    '+/** What the customer pays. */',
    '+export const payable = (cart: Cart, coupon?: Coupon) => total(cart, { coupon })',
    ' ',
    ' export const isEmpty = (cart: Cart) => cart.lines.length === 0',
  ]),
  fileOf(
    'src/cart/total.ts',
    [
      "+import type { Cart, Coupon } from './types.ts'",
      '+',
      '+export function total({ lines }: Cart, { coupon }: { coupon?: Coupon } = {}) {',
      '+  const goods = lines.reduce((sum, { price, count }) => sum + price * count, 0)',
      '+  return Math.max(0, goods - (coupon?.amount ?? 0))',
      '+}',
    ],
    { status: 'added' },
  ),
  fileOf('src/cart/total.test.ts', [
    " test('a coupon is subtracted once', () => {",
    '-  expect(sumOf(cart)).toBe(20)',
    '+  expect(total(cart, { coupon })).toBe(20)',
    ' })',
  ]),
  omittedFile('docs/checkout.png', 'binary'),
])

/** Delegates one issue per state to the agent and brings its session to that state. */
async function createSessions({ id, api }: Person, robot: ScriptedAgent): Promise<Record<DemoSessionState, Issue>> {
  const { data: all } = await api.listIssues({ limit: 100 })
  const open = all.filter(
    ({ code, status, delegate_id }) => code.startsWith('ENG-') && status !== 'done' && delegate_id === null,
  )
  const issues = {} as Record<DemoSessionState, Issue>
  for (const [at, state] of sessionStates.entries()) {
    const issue = open[at]
    if (!issue) throw new Error('the demo has too few issues')
    issues[state] = await api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId, assignee_id: id })
    const session = await robot.session()
    if (state === 'silent') continue
    await session.thought('Reading the issue and its comments.')
    await session.setPlan([
      { content: 'Read the issue', status: 'completed' },
      { content: 'Find where it happens', status: 'inProgress' },
      'Fix it',
      'Ask for a review',
    ])
    await session.action(
      'search',
      'checkout total',
      'Found in 3 files:\n\n- `cart.ts`\n- `total.ts`\n- `total.test.ts`',
    )
    if (state === 'working') {
      await session.client.suggestChanges({
        session_id: session.id,
        suggestions: [
          { field: 'priority', value: 'urgent', reason: 'Customers pay the wrong total.' },
          { field: 'type', value: 'bug', reason: 'The text describes a fault.' },
        ],
      })
      await session.thought('Comparing the two totals.', { ephemeral: true })
    }
    if (state === 'asking') {
      await session.select('Which total is right when a coupon is used?', [
        { value: 'before', label: 'Before the coupon', description: 'Delivery is free above 30 euros of goods.' },
        { value: 'after', label: 'After the coupon' },
      ])
    }
    if (state === 'connecting') {
      await session.auth('I need to see the repository.', {
        url: 'https://code.example.com/connect',
        providerName: 'Code',
      })
    }
    if (state === 'complete') {
      // Its answer waits for a review.
      await api.setTeamReview({ team_id: issue.team_id ?? '', mode: 'on', accept_status: 'done' })
      await session.addUrl('Pull request', 'https://code.example.com/harbor/shop/pull/7')
      await session.client.setSessionChanges({ session_id: session.id, ...oneTotal })
      const usage = {
        model: 'small-1',
        input_tokens: 48_200,
        output_tokens: 3120,
        cost_micros: 420_000,
        currency: 'USD',
      }
      await session.client.updateAgentSession({ session_id: session.id, usage })
      await session.respond('Both totals now come from **one** function.\n\n```ts\ntotal(cart, { coupon })\n```')
    }
    if (state === 'failed') await session.fail('The tests do not run on this branch.', 'tests_failed')
    if (state === 'stopping') await api.stopAgentSession({ session_id: session.id })
  }
  return issues
}

/** Two personal agents of Ada, one of them working, and Baton, which has answered. */
async function delegateInside({ id, api }: Person) {
  await api.createPersonalAgent({
    name: 'Release scribe',
    instructions: 'Write the release note for the issue: one sentence that a customer understands.',
  })
  const helper = await api.createPersonalAgent({ name: 'Untangler', instructions: 'Split big issues into small ones.' })
  const { data: agents } = await api.listAgents({ include_deployment: true })
  const builtIn = agents.find(({ agent_kind }) => agent_kind === 'deployment')
  const delegate = async (query: string, delegate_id = '') => {
    const [issue] = (await api.listIssues({ query })).data
    if (!issue) throw new Error(`the demo has no issue ${query}`)
    return api.updateIssue({ issue_id: issue.id, delegate_id, assignee_id: id })
  }
  return {
    answered: await delegate('App loses the cart', builtIn?.id),
    unable: await delegate('One-tap reorder', helper.id),
  }
}

/** A webhook whose receiver fails: failed deliveries, and one that waits for its next attempt. */
async function deliveries({ api }: Person, receiver: Receiver, issue: Issue) {
  const hook = { all_teams: true, resource_types: ['Issue' as const] }
  const { id } = await api.createWebhook({ ...hook, label: 'Warehouse', url: receiver.url })
  await api.testWebhook({ webhook_id: id })
  receiver.answer = 500
  await api.updateIssue({ issue_id: issue.id, time_estimate: (issue.time_estimate ?? 0) + 1 })
  for (let tries = 0; tries < 200; tries++) {
    const { data } = await api.listWebhookDeliveries({ webhook_id: id })
    const waiting = data.find((delivery) => delivery.type === 'Issue' && delivery.attempts.length === 2)
    if (waiting) return { webhookId: id, deliveryId: waiting.id }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the delivery was not tried twice')
}
