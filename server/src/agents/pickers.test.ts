import { type Choice, listenUrl } from '@baton/protocol'
import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { Listener, waitForNoListener } from '../../test/listener.ts'
import { sql } from '../db/sql.ts'

const assignable = ['read', 'app:assignable']

test(
  'lists people and agents with their availability',
  verifies(
    'identity.picker-item-shape',
    'identity.users-select-agent-kind',
    'identity.users-select-query',
    'identity.agents-without-flags',
    'identity.agents-include-apps',
    'identity.agents-include-deployment',
    'agent.deployment-one-per-workspace',
    'identity.app-avatar-url-is-icon',
    'identity.picker-available',
    'identity.picker-unavailable-is-listed',
    'identity.app-user-kinds',
    'delegation.picker-item-shape',
    'delegation.agents-item-shape',
    'delegation.picker-query-filter',
    'delegation.picker-available-app',
  ),
  async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const elsewhere = await app.workspace()
    await app.installed(elsewhere.owner)
    const robot = await app.installed(owner, { scopes: assignable, name: 'Zebra' })
    await app.ctx.db.run(sql`update endpoints set state = 'enabled' where app_id = ${robot.app.id}`)
    const mute = await app.installed(owner, { name: 'Zebu' })
    const { data } = (await member.get('/users/select')).body
    const human = (person: typeof owner) => ({
      id: person.user.id,
      display_name: person.user.display_name,
      user_kind: 'human',
      agent_kind: null,
      avatar_url: null,
      available: true,
      unavailable_reason: null,
      listening: null,
    })
    const agent = (one: typeof robot, name: string, reason: string | null) => ({
      id: one.userId,
      display_name: name,
      user_kind: 'application',
      agent_kind: 'app',
      avatar_url: `${app.ctx.config.baseUrl}/agent-apps/${one.app.id}/icon`,
      available: reason === null,
      unavailable_reason: reason,
      listening: null,
    })
    const agents = [agent(mute, 'Zebu', 'app_missing_scope'), agent(robot, 'Zebra', null)]
    const builtIn = {
      ...human(owner),
      id: expect.stringMatching(/^usr_/),
      display_name: 'Baton',
      user_kind: 'application',
      agent_kind: 'deployment',
      avatar_url: `${app.ctx.config.appUrl}/assets/baton-agent.svg`,
    }
    expect(data).toEqual([...agents, human(member), human(admin), builtIn, human(owner)])
    expect((await owner.get('/agents?include_deployment=true')).body.data).toEqual([builtIn])
    expect((await owner.get('/users/select?query=zeb')).body.data).toEqual(agents)
    expect((await owner.get('/users/select?query=100%25')).body.data).toEqual([])
    expect((await owner.get('/agents')).body.data).toEqual([])
    expect((await owner.get('/agents?include_apps=true')).body.data).toEqual(agents)
    const page = (await owner.get('/users/select?limit=3')).body
    expect((await owner.get(`/users/select?limit=3&cursor=${page.next_cursor}`)).body.data).toEqual(data.slice(3))
  },
)

test(
  'unavailable_reason is the first requirement that is not met',
  verifies(
    'identity.picker-reason-not-installed',
    'identity.picker-reason-missing-scope',
    'identity.picker-reason-webhook-disabled',
    'identity.picker-reason-order',
    'identity.picker-available',
    'installation.teamless-issue',
    'delegation.picker-by-team',
    'delegation.picker-lists-unavailable-app',
    'delegation.picker-reason-is-first-missing',
    'delegation.picker-available-app',
  ),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const a = (await owner.post('/teams', { name: 'A', key: 'AAA' })).body
    const b = (await owner.post('/teams', { name: 'B', key: 'BBB' })).body
    const issues = {
      a: (await owner.post('/issues', { title: 'Of A', team_id: a.id })).body.id,
      b: (await owner.post('/issues', { title: 'Of B', team_id: b.id })).body.id,
      none: (await owner.post('/issues', { title: 'Of none' })).body.id,
    }
    const enable = (one: { app: { id: string } }, state = 'enabled') =>
      app.ctx.db.run(sql`update endpoints set state = ${state} where app_id = ${one.app.id}`)
    const reason = async (one: { userId: string }, query: string) => {
      const [agent, user] = await Promise.all(
        [`/agents?include_apps=true&${query}`, `/users/select?${query}`].map(async (path) =>
          (await owner.get(path)).body.data.find(({ id }: { id: string }) => id === one.userId),
        ),
      )
      expect(agent).toEqual(user)
      expect(user.available).toBe(user.unavailable_reason === null)
      return user.unavailable_reason
    }
    const ready = await app.installed(owner, { scopes: assignable, teamIds: [a.id] })
    await enable(ready)
    expect(await reason(ready, `team_id=${a.id}`)).toBeNull()
    expect(await reason(ready, `issue_id=${issues.a}`)).toBeNull()
    expect(await reason(ready, `team_id=${b.id}`)).toBe('app_not_installed_for_team')
    expect(await reason(ready, `issue_id=${issues.b}`)).toBe('app_not_installed_for_team')
    expect(await reason(ready, `issue_id=${issues.none}`)).toBe('app_not_installed_for_team')
    for (const state of ['disabled', 'failing']) {
      await enable(ready, state)
      expect(await reason(ready, `team_id=${a.id}`)).toBe('app_webhook_disabled')
    }
    const nothing = await app.installed(owner, { scopes: ['read'], teamIds: [a.id] })
    expect(await reason(nothing, `team_id=${b.id}`)).toBe('app_not_installed_for_team')
    expect(await reason(nothing, `team_id=${a.id}`)).toBe('app_missing_scope')
    const everywhere = await app.installed(owner, { scopes: assignable })
    await enable(everywhere)
    for (const id of Object.values(issues)) expect(await reason(everywhere, `issue_id=${id}`)).toBeNull()
    expect((await owner.get('/agents?team_id=team_x')).status).toBe(422)
    expect((await owner.get('/agents?issue_id=iss_x')).status).toBe(404)
  },
)

test('an app needs the scope read for the pickers', verifies('identity.pickers-need-read'), async ({ app }) => {
  const { owner } = await app.workspace()
  const blind = await app.installed(owner, { scopes: ['write'] })
  const seeing = await app.installed(owner, { scopes: ['read'] })
  for (const path of ['/agents', '/users/select']) {
    const refused = await blind.get(path)
    expect(refused).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE', details: { required: 'read' } } })
    expect((await seeing.get(path)).status).toBe(200)
  }
})

test(
  'shows whether a program receives for an app without a URL',
  verifies('run.listening-shown-in-pickers'),
  async ({ app, receiver }) => {
    const { owner, member } = await app.workspace()
    const robot = await app.installed(owner, { scopes: assignable, webhook: listenUrl })
    const served = await app.installed(owner, { scopes: assignable, webhook: receiver.url })
    const shown = async () => {
      const { data: users } = (await member.get('/users/select')).body
      const { data: agents } = (await member.get('/agents?include_apps=true&include_deployment=true')).body
      const of = (list: Choice[], id: string) => list.find((choice) => choice.id === id)
      for (const id of [served.userId, member.user.id]) expect(of(users, id)?.listening).toBeNull()
      for (const agent of agents) if (agent.id !== robot.userId) expect(agent.listening).toBeNull()
      expect(of(agents, robot.userId)).toEqual(of(users, robot.userId))
      expect(of(users, robot.userId)).toMatchObject({ available: true, unavailable_reason: null })
      return of(users, robot.userId)?.listening
    }
    expect(await shown()).toBe(false)
    const listener = await Listener.asApp(robot, owner)
    expect(await shown()).toBe(true)
    expect((await member.get(`/users/${robot.userId}`)).body.listening).toBe(true)
    // A process that died does not extend its lease.
    await app.ctx.db.run(sql`update listeners set lease_until = ${app.clock.now()} where app_id = ${robot.app.id}`)
    expect(await shown()).toBe(false)
    listener.close()
    const person = await Listener.of(owner, robot.app.id)
    expect(await shown()).toBe(true)
    person.close()
    await waitForNoListener(owner, robot.app.id)
    expect(await shown()).toBe(false)
  },
)
