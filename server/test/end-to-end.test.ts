import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filledDataDir, ServiceProcess, withEmptyDatabase } from './process.ts'
import { isSigned, Receiver } from './receiver.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers freely
type Json = any

/** Calls the service as anybody outside would: with what it was given, and nothing else. */
const callerAt =
  (url: string, headers: Record<string, string>) =>
  async (method: string, path: string, body?: object): Promise<{ status: number; body: Json; location: string }> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    return {
      status: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      location: response.headers.get('location') ?? '',
    }
  }

const redirectUri = 'https://robots.example.com/callback'

/** Registers an app, has it installed through OAuth, and answers with what its developer then holds. */
async function install(url: string, person: ReturnType<typeof callerAt>, hook: string) {
  const registered = await person('POST', '/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Robot',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: [redirectUri], scopes: ['read', 'write', 'app:assignable', 'app:mentionable'] },
    webhook: { url: hook },
  })
  expect(registered.status).toBe(201)
  const { client_id, client_secret, webhook_secret, install_url } = registered.body
  const verifier = randomBytes(32).toString('base64url')
  const filled = install_url
    .replace('{redirect_uri}', encodeURIComponent(redirectUri))
    .replace('{state}', 'a-state')
    .replace('{code_challenge}', createHash('sha256').update(verifier).digest('base64url'))
  const { pathname, search } = new URL(filled)
  const asked = await person('GET', `${pathname.replace('/api/v1', '')}${search}`)
  const request = new URL(asked.location).searchParams.get('request')
  const approved = await person('POST', `/oauth/requests/${request}/approve`, { all_teams: true })
  const back = new URL(approved.body.redirect_to)
  expect(back.searchParams.get('state')).toBe('a-state')
  const answer = await fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id,
      client_secret,
    }),
  })
  const token = (await answer.json()) as Json
  const { access_token, workspace_id, app_user_id, installation_id } = token
  const app = callerAt(url, { authorization: `Bearer ${access_token}`, 'x-workspace-id': workspace_id })
  return { app, appUserId: app_user_id, installationId: installation_id, webhookSecret: webhook_secret }
}

test('a person hands an issue to an agent, and both know where it stands until it is stopped', async () => {
  const dir = await filledDataDir()
  const receiver = await Receiver.start()
  const run = async (env: Record<string, string>) => {
    const service = await ServiceProcess.start({ BATON_DATA_DIR: dir, BATON_WEBHOOK_ALLOW: 'localhost', ...env })
    await handOver(service.url, receiver).finally(() => service.kill('SIGTERM'))
  }
  const key = randomBytes(32).toString('base64')
  if (!process.env.DATABASE_URL) await run({})
  else await withEmptyDatabase((url) => run({ DATABASE_URL: url, BATON_SECRET_KEY: key }))
  await receiver.stop()
  rmSync(dir, { recursive: true, force: true })
}, 120_000)

async function handOver(url: string, receiver: Receiver) {
  const nobody = callerAt(url, {})
  const account = await nobody('POST', '/auth/sign-up', {
    email: 'ada@example.com',
    password: 'a password',
    name: 'Ada',
  })
  const login = { authorization: `Bearer ${account.body.token}` }
  const workspace = (await callerAt(url, login)('POST', '/workspaces', { name: 'Acme' })).body
  const ada = callerAt(url, { ...login, 'x-workspace-id': workspace.id })
  const team = (await ada('POST', '/teams', { name: 'Engineering', key: 'ENG' })).body
  const issue = (await ada('POST', '/issues', { title: 'Login fails', team_id: team.id })).body
  const { app, appUserId, installationId, webhookSecret } = await install(url, ada, receiver.url)

  let arriving = receiver.next()
  const delegated = await ada('PUT', `/issues/${issue.id}`, { delegate_id: appUserId })
  expect(delegated.body).toMatchObject({ delegate_id: appUserId, assignee_id: account.body.user.id })
  const created = await arriving
  expect(isSigned(created, webhookSecret)).toBe(true)
  expect(created.headers['svc-event']).toBe('AgentSessionEvent')
  expect(created.body).toMatchObject({ action: 'created', installation_id: installationId, app_user_id: appUserId })
  const { id } = created.body.data.agent_session
  const session = `/agent-sessions/${id}`
  const post = async (content: object, more: object = {}) => {
    const { status, body } = await app('POST', `${session}/activities`, { content, ...more })
    expect(status, JSON.stringify(body)).toBe(201)
    return body
  }
  const state = async () => (await ada('GET', session)).body.state
  /** What the agent hears when Ada does something. */
  const heard = async (act: () => Promise<{ status: number }>) => {
    arriving = receiver.next()
    expect((await act()).status).toBeLessThan(300)
    const prompted = await arriving
    expect(isSigned(prompted, webhookSecret)).toBe(true)
    expect(prompted.body.action).toBe('prompted')
    return prompted.body.data
  }
  const say = (body: string, signal_metadata?: object) => () =>
    ada('POST', `${session}/activities`, {
      content: { type: 'prompt', body },
      ...(signal_metadata && { signal_metadata }),
    })

  expect(await state()).toBe('pending')
  await post({ type: 'thought', body: 'Looking.' })
  expect(await state()).toBe('active')
  const changed = await app('PATCH', session, {
    plan: [{ content: 'Find it', status: 'inProgress' }],
    added_external_urls: [{ label: 'Change 1', url: 'https://example.com/changes/1' }],
  })
  expect(changed).toMatchObject({ status: 200, body: { state: 'active', plan: [{ status: 'inProgress' }] } })
  const question = await post(
    { type: 'elicitation', body: 'Which branch?' },
    { signal: 'select', signal_metadata: { options: [{ value: 'main' }, { value: 'next' }] } },
  )
  expect(await state()).toBe('awaitingInput')

  const answer = { in_reply_to: question.id, selected: ['main'] }
  expect((await heard(say('main', answer))).agent_activity).toMatchObject({ signal: null, signal_metadata: answer })
  expect(await state()).toBe('pending')
  await post({ type: 'response', body: 'Done.' })
  expect(await state()).toBe('complete')

  const again = await heard(say('One more thing'))
  expect(again.agent_session.state).toBe('pending')
  expect(again.agent_activity.content).toEqual({ type: 'prompt', body: 'One more thing' })

  const stopped = await heard(() => ada('POST', `${session}/stop`))
  expect(stopped.agent_activity).toMatchObject({ signal: 'stop', signal_metadata: { reason: 'stopped' } })
  expect(stopped.agent_session).toMatchObject({ state: 'stopping', end_reason: 'stopped', ended_at: null })
  await post({ type: 'response', body: 'Stopped here.' })
  const over = (await ada('GET', session)).body
  expect(over).toMatchObject({ state: 'complete', end_reason: 'stopped', ended_at: expect.any(String) })
  const late = await app('POST', `${session}/activities`, { content: { type: 'thought', body: 'But…' } })
  expect(late).toMatchObject({ status: 409, body: { code: 'SESSION_ENDED', details: { end_reason: 'stopped' } } })
  const { data } = (await ada('GET', `${session}/activities`)).body
  expect(data.map(({ type }: Json) => type)).toEqual([
    'thought',
    'elicitation',
    'prompt',
    'response',
    'prompt',
    'prompt',
    'response',
  ])
}
