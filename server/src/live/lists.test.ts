import type { LiveChange } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type TestApp, type TestPerson, type TestWorkspace, test } from '../../test/harness.ts'
import { consent, exchange, redirectUri } from '../../test/oauth.ts'
import { Watch } from '../../test/watch.ts'

type Who = 'owner' | 'member' | 'stranger'

/** The owner and a member watch their workspace, and a stranger another one. */
async function watched(app: TestApp) {
  const workspace = await app.workspace()
  const { owner: stranger } = await app.workspace()
  const { owner, member } = workspace
  const people = { owner, member, stranger }
  const watches = {} as Record<Who, Watch>
  for (const who of Object.keys(people) as Who[]) {
    watches[who] = await Watch.as(people[who])
    expect(await watches[who].next()).toMatchObject({ event: 'ready' })
  }
  /** The types of the hints each watcher received, without issues and projects. The ids are checked here. */
  const hintsDuring = async (work: () => Promise<{ status: number }>, status = 200): Promise<Record<Who, string[]>> => {
    expect((await work()).status).toBe(status)
    const types = { owner: [], member: [], stranger: [] } as Record<Who, string[]>
    const marks = { [workspace.id]: await mark(owner), [stranger.workspaceId]: await mark(stranger) }
    for (const who of Object.keys(people) as Who[]) {
      const place = people[who].workspaceId
      for (let change = await next(watches[who]); change.id !== marks[place]; change = await next(watches[who])) {
        if (change.type === 'Issue' || change.type === 'Project') continue
        const id = change.type === 'Inbox' ? people[who].user.id : place
        expect(change).toEqual({ type: change.type, id, action: 'update', parent_id: null })
        types[who].push(change.type)
      }
    }
    return types
  }
  /** Reads earlier hints, so that they are not taken for later ones. */
  const settle = () => hintsDuring(() => owner.get('/labels'))
  return { ...workspace, stranger, hintsDuring, settle }
}

const mark = async (person: TestPerson) => (await person.post('/issues', { title: 'Mark' })).body.id as string
const next = async (watch: Watch) => ((await watch.next()) as { data: LiveChange }).data

const all = (type: string) => ({ owner: [type], member: [type], stranger: [] })
const none = { owner: [], member: [], stranger: [] }
const manifest = (fields: object = {}) => ({
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: [redirectUri], scopes: ['read', 'app:assignable'] },
  ...fields,
})

describe('the lists of a workspace', () => {
  test('send a hint to all members: settings, members and teams', async ({ app }) => {
    const { owner, hintsDuring } = await watched(app)
    const newcomer = await app.person()
    expect(await hintsDuring(() => owner.patch('/workspaces/me', { guidance: 'Be kind.' }))).toEqual(all('Workspace'))
    let invited = { token: '', invitation: { id: '' } }
    const invite = async (email: string) => {
      const response = await owner.post('/workspaces/me/invitations', { email, role: 'member' })
      invited = response.body
      return response
    }
    expect(await hintsDuring(() => invite('x@example.com'), 201)).toEqual(all('Workspace'))
    const invitation = `/workspaces/me/invitations/${invited.invitation.id}`
    expect(await hintsDuring(() => owner.delete(invitation), 204)).toEqual(all('Workspace'))
    await hintsDuring(() => invite(newcomer.user.email), 201)
    expect(await hintsDuring(() => newcomer.post('/invitations/accept', { token: invited.token }))).toEqual(
      all('Workspace'),
    )
    const path = `/workspaces/me/members/${newcomer.user.id}`
    expect(await hintsDuring(() => owner.patch(path, { role: 'admin' }))).toEqual(all('Workspace'))

    let team = ''
    const create = async () => {
      const response = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
      team = `/teams/${response.body.id}`
      return response
    }
    expect(await hintsDuring(create, 201)).toEqual(all('Workspace'))
    expect(await hintsDuring(() => owner.patch(team, { guidance: 'Test.' }))).toEqual(all('Workspace'))
    const membership = `${team}/members/${newcomer.user.id}`
    expect(await hintsDuring(() => owner.put(membership))).toEqual(all('Workspace'))
    expect(await hintsDuring(() => owner.put(membership))).toEqual(none)
    expect(await hintsDuring(() => owner.delete(membership), 204)).toEqual(all('Workspace'))
    expect(await hintsDuring(() => owner.delete(path), 204)).toEqual(all('Workspace'))
  })

  test('that were not changed send no hint', async ({ app }) => {
    const { owner, member, stranger, hintsDuring, settle } = await watched(app)
    const { body: label } = await owner.post('/labels', { name: 'Red' })
    const { body: view } = await owner.post('/views', { name: 'Mine', query: '', shared: true })
    await settle()
    expect(await hintsDuring(() => member.patch('/workspaces/me', { name: 'Mine' }), 403)).toEqual(none)
    expect(await hintsDuring(() => owner.post('/teams', { name: 'x', key: 'lower' }), 422)).toEqual(none)
    expect(await hintsDuring(() => stranger.delete(`/labels/${label.id}`), 404)).toEqual(none)
    expect(await hintsDuring(() => member.delete(`/views/${view.id}`), 403)).toEqual(none)
    expect(await hintsDuring(() => owner.post('/views', { name: 'x', query: 'x=1' }), 422)).toEqual(none)
    expect(await hintsDuring(() => member.post('/agent-apps', manifest({ name: '' })), 422)).toEqual(none)
  })

  test.for(['labels', 'milestones', 'cycles', 'initiatives', 'views'] as const)(
    'send a hint to all members: %s',
    async (noun, { app }) => {
      const { owner, member, hintsDuring, settle } = await watched(app)
      const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
      const { body: project } = await owner.post('/projects', { title: 'Plan' })
      const more = {
        labels: {},
        milestones: { project_id: project.id },
        cycles: { team_id: team.id },
        initiatives: {},
        views: { query: 'status=todo', shared: true },
      }[noun]
      const { body } = await member.post(`/${noun}`, { name: 'First', ...more })
      await settle()
      expect(await hintsDuring(() => member.post(`/${noun}`, { name: 'Second', ...more }), 201)).toEqual(
        all('Workspace'),
      )
      expect(await hintsDuring(() => member.put(`/${noun}/${body.id}`, { name: 'Third' }))).toEqual(all('Workspace'))
      expect(await hintsDuring(() => member.delete(`/${noun}/${body.id}`), 204)).toEqual(all('Workspace'))
    },
  )

  test('send a hint only to the owner if they are personal', async ({ app }) => {
    const { member, admin, hintsDuring, settle } = await watched(app)
    const mine = { ...none, member: ['Workspace'] }
    const view = (await member.post('/views', { name: 'Mine', query: '' })).body
    const { body: project } = await member.post('/projects', { title: 'My plan', personal: true })
    await settle()
    expect(await hintsDuring(() => member.post('/views', { name: 'Mine', query: '' }), 201)).toEqual(mine)
    expect(await hintsDuring(() => member.put(`/views/${view.id}`, { name: 'Still mine' }))).toEqual(mine)
    expect(await hintsDuring(() => member.put(`/views/${view.id}`, { shared: true }))).toEqual(all('Workspace'))
    expect(await hintsDuring(() => admin.put(`/views/${view.id}`, { shared: false }))).toEqual(all('Workspace'))
    expect(await hintsDuring(() => member.delete(`/views/${view.id}`), 204)).toEqual(mine)

    const milestone = { project_id: project.id, name: 'Alpha' }
    expect(await hintsDuring(() => member.post('/milestones', milestone), 201)).toEqual(mine)
    const { body } = await member.get(`/milestones?project_id=${project.id}`)
    const path = `/milestones/${body.data[0].id}`
    expect(await hintsDuring(() => member.put(path, { name: 'Beta' }))).toEqual(mine)
    expect(await hintsDuring(() => member.delete(path), 204)).toEqual(mine)
  })
})

describe('the agents of a workspace', () => {
  test('send a hint when registered, installed, changed, switched and removed', async ({ app }) => {
    const scene = await watched(app)
    const { owner, member, hintsDuring, settle } = scene
    const teams: string[] = []
    for (const key of ['ENG', 'DES']) teams.push((await owner.post('/teams', { name: key, key })).body.id)
    await settle()
    let client = { app: { id: '' }, client_id: '', client_secret: '' }
    const webhook = { url: 'https://robots.example.com/hook' }
    const register = async () => {
      const response = await member.post('/agent-apps', manifest({ webhook }))
      client = response.body
      return response
    }
    expect(await hintsDuring(register, 201)).toEqual(all('Agents'))
    const path = `/agent-apps/${client.app.id}`
    const install = async () => {
      const scope = { scope: 'read app:assignable' }
      const code = await consent(owner, client.client_id, { team_ids: [teams[0]] }, scope)
      return exchange(app, { ...(scene as TestWorkspace), team: null, client } as never, code)
    }
    expect(await hintsDuring(install)).toEqual(all('Agents'))
    const [installed] = (await owner.get('/installations')).body.data
    const installation = `/installations/${installed.id}`
    expect(await hintsDuring(() => owner.patch(installation, { team_ids: teams }))).toEqual(all('Agents'))
    expect(await hintsDuring(() => owner.patch(installation, { team_ids: teams }))).toEqual(none)
    expect(await hintsDuring(() => owner.post(`${path}/webhook/disable`))).toEqual(all('Agents'))
    expect(await hintsDuring(() => owner.post(`${path}/webhook/enable`))).toEqual(all('Agents'))
    expect(await hintsDuring(() => owner.post(`${path}/secret`))).toEqual(none)
    expect(await hintsDuring(() => owner.put(path, manifest({ name: 'Bender', webhook })))).toEqual(all('Agents'))
    expect(await hintsDuring(() => owner.delete(installation), 204)).toEqual(all('Agents'))
    expect(await hintsDuring(() => owner.delete(path), 204)).toEqual(all('Agents'))
  })

  test('send a hint when an app webhook fails, but not for a workspace webhook', async ({ startApp, receiver }) => {
    const app = await startApp({ BATON_RETRY_DELAYS: '0,0,0' })
    const { owner, hintsDuring, settle } = await watched(app)
    const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
    receiver.answer = 500
    const failed = async () => {
      for (let made = 0; made < 3; made++) await owner.post('/issues', { title: 'A bug', team_id: team.id })
      await app.deliver()
      return owner.get('/webhooks')
    }
    const hook = { label: 'Chat', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
    const { body: webhook } = await owner.post('/webhooks', hook)
    await settle()
    expect(await hintsDuring(failed)).toEqual({ ...none, owner: ['Inbox'] })
    expect((await owner.get(`/webhooks/${webhook.id}`)).body.state).toBe('failing')

    const robot = await app.installed(owner, { webhook: { url: receiver.url, resource_types: ['Issue'] } })
    await settle()
    expect(await hintsDuring(failed)).toEqual({ ...none, owner: ['Inbox', 'Agents'], member: ['Agents'] })
    expect((await owner.get(`/agent-apps/${robot.app.id}`)).body.webhook.state).toBe('failing')
  })
})
