import { expect } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { test } from '../../test/harness.ts'
import { consent, exchange, oauthScene, secretOf, token } from '../../test/oauth.ts'

test('the set-up of an app shows the time of each completed step', async ({ app, receiver }) => {
  const { owner, member, robot, delegated } = await teamwork(app, receiver)
  const setup = () => done(member.get(`/agent-apps/${robot.app.id}/setup`))
  const registered_at = robot.app.created_at
  const later = () => {
    app.clock.advance({ seconds: 1 })
    return app.clock.now().toISOString()
  }
  const { body: bare } = await member.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Newcomer',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  })
  expect(await done(owner.get(`/agent-apps/${bare.app.id}/setup`))).toEqual({
    registered_at: bare.app.created_at,
    installed_at: null,
    tokens_fetched_at: null,
    first_delivered_at: null,
    first_thought_at: null,
  })

  const installed = {
    registered_at,
    installed_at: registered_at,
    tokens_fetched_at: null,
    first_delivered_at: null,
    first_thought_at: null,
  }
  expect(await setup()).toEqual(installed)
  await done(owner.post(`/agent-apps/${robot.app.id}/webhook/test`))
  expect(await setup()).toEqual(installed)

  const { session } = await delegated()
  receiver.answer = 500
  await app.deliver()
  expect(await setup()).toEqual(installed)
  app.clock.advance({ minutes: 1 })
  receiver.answer = 200
  const first_delivered_at = later()
  await app.deliver()
  expect(await setup()).toEqual({ ...installed, first_delivered_at })

  const post = (content: object) => done(robot.post(`/agent-sessions/${session.id}/activities`, { content }))
  await post({ type: 'action', action: 'Read', parameter: 'main.ts' })
  expect(await setup()).toEqual({ ...installed, first_delivered_at })
  const first_thought_at = later()
  await post({ type: 'thought', body: 'Looking.' })
  later()
  await post({ type: 'thought', body: 'Still looking.' })
  await delegated()
  await app.deliver()
  const complete = { ...installed, first_delivered_at, first_thought_at }
  expect(await setup()).toEqual(complete)

  // Completed steps stay after the app is uninstalled, except those of the installation.
  await done(owner.delete(`/installations/${robot.installationId}`))
  expect(await setup()).toEqual({ ...complete, installed_at: null, tokens_fetched_at: null })
})

test('fetching tokens is a step of its own, for each approval', async ({ app }) => {
  const at = await oauthScene(app)
  const { owner, client } = at
  const fetchedAt = async () => {
    const { installed_at, tokens_fetched_at } = await done(owner.get(`/agent-apps/${client.app.id}/setup`))
    return { installed: installed_at !== null, tokens_fetched_at }
  }
  expect(await fetchedAt()).toEqual({ installed: false, tokens_fetched_at: null })
  const approved = await consent(owner, client.client_id, { all_teams: true })
  expect(await fetchedAt()).toEqual({ installed: true, tokens_fetched_at: null })
  app.clock.advance({ seconds: 1 })
  const first = app.clock.now().toISOString()
  const tokens = await done(exchange(app, at, approved))
  expect(await fetchedAt()).toEqual({ installed: true, tokens_fetched_at: first })
  app.clock.advance({ hours: 1 })
  const refreshed = await done(
    token(app, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...secretOf(at) }),
  )
  expect(await fetchedAt()).toEqual({ installed: true, tokens_fetched_at: first })

  // A new approval ends the older tokens, so the app has to fetch new ones.
  const again = await consent(owner, client.client_id, { all_teams: true })
  expect(await fetchedAt()).toEqual({ installed: true, tokens_fetched_at: null })
  await done(exchange(app, at, again))
  expect(await fetchedAt()).toEqual({ installed: true, tokens_fetched_at: app.clock.now().toISOString() })
  expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
})

test('the set-up of an app is visible to members of its workspace only', async ({ app, receiver }) => {
  const { robot } = await teamwork(app, receiver)
  const elsewhere = await app.workspace()
  expect((await elsewhere.owner.get(`/agent-apps/${robot.app.id}/setup`)).status).toBe(404)
  expect((await robot.get(`/agent-apps/${robot.app.id}/setup`)).body.code).toBe('SESSION_ONLY_ROUTE')
})
