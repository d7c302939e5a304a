import { randomBytes } from 'node:crypto'
import { appScopes, type Route } from '@baton/protocol'
import { Client } from '../server/test/client.ts'
import { Contract } from '../server/test/contract.ts'
import { pkce } from '../server/test/oauth.ts'
import { Canaries, type Group, groups } from './canaries.ts'
import { Things } from './things.ts'

/** Somebody who sends requests, with or without the right to. */
export interface Caller {
  name: string
  headers: Record<string, string>
  /** The workspace that they name, if they name theirs. */
  workspaceId: string
  mayRead: ReadonlySet<Group>
  /** Whether the route is for them, so that they get past the door. */
  fits: (route: Route) => boolean
}

export interface Account {
  id: string
  email: string
  token: string
}

type Role = 'owner' | 'admin' | 'member' | 'scribe' | 'removed' | 'spare'

/** A workspace and its people. */
interface Home extends Record<Role, Account> {
  id: string
  as: (person: Account) => Client
}

export const password = 'correct horse battery staple'
export const redirectUri = 'https://robots.example.com/callback'
const programUri = 'http://127.0.0.1:4000/callback'
/** One for all, so that a code that is found can be exchanged. */
export const challenge = pkce()

const all = new Set(groups)
const without = (...hidden: Group[]) => new Set([...all].filter((group) => !hidden.includes(group)))
const nothing = new Set<Group>()
const owners = without('there', 'scribe', 'nobody')
const admins = without('there', 'scribe', 'owner', 'nobody')
const members = without('there', 'scribe', 'owner', 'managers', 'nobody')
const scribes = without('there', 'owner', 'managers', 'nobody')
const apps = without('there', 'scribe', 'owner', 'managers', 'people', 'nobody')
const appsOfOneTeam = without('there', 'scribe', 'owner', 'managers', 'people', 'ops', 'nobody')
const elsewhere = new Set<Group>(['there'])

/** Who reads the webhooks that go to these paths; nothing that is internal or personal is ever sent to any. */
export const readers = {
  hook: apps,
  managers: new Set<Group>([...apps, 'managers']),
  app: apps,
  'app-of-a-team': appsOfOneTeam,
  there: elsewhere,
} as Record<string, ReadonlySet<Group>> & { hook: ReadonlySet<Group> }

const isOpen = ({ caller }: Route) => caller === 'anyone' || caller === 'anyone or person'
const forManagers = ({ caller }: Route) => caller !== 'app'
const forMembers = ({ caller }: Route) => caller !== 'app' && caller !== 'manager'
const forApps = (scopes: readonly string[]) => (route: Route) =>
  isOpen(route) ||
  ('scope' in route &&
    (route.scope === null ||
      scopes.includes(route.scope) ||
      (route.scope.endsWith(':create') && scopes.includes('write'))))
const forPrograms = (route: Route) => route.caller !== 'app' && forApps(['read', 'write'])(route)

interface Watched {
  client: Client
  path: string
  before: string
}

const seen = async ({ client, path }: Watched) => JSON.stringify((await client.get(path)).body)

/** Two workspaces with everybody who could be calling, and canaries in every field that somebody must not read. */
export class World {
  readonly canaries = new Canaries()
  readonly things = new Things()
  readonly callers: Caller[] = []
  /** Logins that may be signed out. */
  readonly spareLogins: string[] = []
  spareEmail = ''
  readonly nobody: Client
  readonly contract: Contract
  /** What was guarded, as those see it who may. */
  readonly #watched: Watched[] = []
  readonly #hookUrl: string
  #people = 0

  private constructor(rootUrl: string, contract: Contract, hookUrl: string) {
    this.contract = contract
    this.nobody = new Client(rootUrl, contract)
    this.#hookUrl = hookUrl
  }

  /** `hookUrl` is where webhooks may go. */
  static async create(rootUrl: string, hookUrl: string): Promise<World> {
    const described = (await (await fetch(`${rootUrl}/api/v1/openapi.json`)).json()) as never
    const world = new World(rootUrl, new Contract(described), hookUrl)
    await world.#fill()
    for (const watched of world.#watched) watched.before = await seen(watched)
    return world
  }

  caller(name: string): Caller {
    const found = this.callers.find((caller) => caller.name === name)
    if (!found) throw new Error(`there is no caller called ${name}`)
    return found
  }

  /** What of the guarded things is no longer as it was. */
  async changed(): Promise<string[]> {
    const changed: string[] = []
    for (const watched of this.#watched) {
      const now = await seen(watched)
      if (now !== watched.before) changed.push(`${watched.path} was ${watched.before} and is ${now}`)
    }
    return changed
  }

  async #fill() {
    const here = await this.#workspace('here')
    const there = await this.#workspace('there')
    const [owner, other] = [here.as(here.owner), there.as(there.owner)]
    await this.#seed(owner)
    for (const { client, group } of [
      { client: owner, group: 'here' },
      { client: other, group: 'there' },
    ] as const) {
      await this.#plantShared(client, group, group === 'there')
    }
    await this.#plantPersonal(owner, 'owner')
    await this.#plantPersonal(here.as(here.scribe), 'scribe')
    await this.#plantHidden(owner)
    await this.#people_(here, there)
    await this.#apps(here, there)
  }

  async #account(name: string): Promise<Account> {
    const email = `person-${++this.#people}-${randomBytes(4).toString('hex')}@example.com`
    const { body } = await this.nobody.post('/auth/sign-up', { email, password, name })
    this.canaries.secretsIn(body, 'nobody')
    return { id: body.user.id, email, token: body.token }
  }

  async #workspace(group: 'here' | 'there'): Promise<Home> {
    const owner = await this.#account(`Owner ${this.canaries.new(group)}`)
    const login = this.nobody.with({ authorization: `Bearer ${owner.token}` })
    const { body: workspace } = await login.post('/workspaces', { name: `Acme ${this.canaries.new(group)}` })
    const id: string = workspace.id
    const as = ({ token }: Account) => this.nobody.with({ authorization: `Bearer ${token}`, 'x-workspace-id': id })
    const join = async (name: string, role: string) => {
      // Those who do not belong here read their own name all the same.
      const isOutside = name === 'Removed' || name === 'Spare'
      const person = await this.#account(isOutside ? name : `${name} ${this.canaries.new(group)}`)
      const { body } = await as(owner).post('/workspaces/me/invitations', { email: person.email, role })
      await as(person).post('/invitations/accept', { token: body.token })
      return person
    }
    const people = {
      owner,
      admin: await join('Admin', 'admin'),
      member: await join('Member', 'member'),
      scribe: await join('Scribe', 'member'),
      removed: await join('Removed', 'admin'),
      spare: await join('Spare', 'member'),
    }
    await as(owner).patch('/workspaces/me', { guidance: `Be kind, ${this.canaries.new(group)}` })
    for (const [name, person] of Object.entries(people)) {
      if (name !== 'spare' || group === 'there') this.things.guard(person.id, group)
      if (group === 'there') this.canaries.id(person.id, 'there')
    }
    this.things.guard(id, group)
    if (group === 'there') this.canaries.id(id, 'there')
    return { id, as, ...people }
  }

  /** One of everything that may be changed, for requests to begin with. */
  async #seed(owner: Client) {
    const make = async (path: string, body: object) => {
      const { body: made } = await owner.post(path, body)
      this.things.learn(JSON.stringify(made), undefined)
      return made
    }
    const { id: user_id } = (await owner.get('/auth/me')).body.user
    const team = await make('/teams', { name: 'Engineering', key: 'ENG' })
    const project = await make('/projects', { title: 'Plan', team_ids: [team.id] })
    await make('/milestones', { project_id: project.id, name: 'Alpha' })
    await make('/cycles', { team_id: team.id, name: 'Week 1' })
    await make('/labels', { name: 'Red' })
    await make('/initiatives', { name: 'Growth' })
    await make('/views', { name: 'Todo', query: 'status=todo', shared: true })
    const issue = await make('/issues', { title: 'A bug', team_id: team.id, assignee_id: user_id })
    this.things.add('code', issue.code)
    await make('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
    await make('/agents/personal', { name: 'Helper', instructions: 'Help.' })
    await make('/webhooks', { label: 'Chat', url: this.#hookUrl, all_teams: true, resource_types: ['Issue'] })
  }

  /** Remembers what was made as something that nobody who is allowed to changes. */
  async #plant(client: Client, group: Group, path: string, body: object) {
    const { body: made } = await client.post(path, body)
    this.canaries.secretsIn(made, group)
    const id: string = (made.app ?? made.invitation ?? made).id
    this.things.guard(id, group)
    if (made.code) this.things.guard(made.code, group, 'code')
    // Elsewhere an id can be met with in a reference; it tells little. Between workspaces there are no references.
    if (group === 'there') this.canaries.id(id, 'there')
    if (/^\/(issues|projects|comments|webhooks|agent-apps)$/.test(path)) {
      this.#watched.push({ client, path: `${path}/${id}`, before: '' })
    }
    return made
  }

  async #plantShared(client: Client, group: 'here' | 'there', hidden: boolean) {
    const text = () => `Text ${this.canaries.new(group)}`
    const team = await this.#plant(client, group, '/teams', { name: text(), key: 'SHR' })
    const repositories = [{ repository: this.canaries.new(group) }]
    await client.patch(`/teams/${team.id}`, { guidance: text(), repositories })
    const project = await this.#plant(client, group, '/projects', {
      title: text(),
      description: text(),
      team_ids: [team.id],
    })
    const label = await this.#plant(client, group, '/labels', { name: text() })
    const initiative = { name: text(), description: text() }
    await this.#plant(client, group, '/initiatives', initiative)
    await this.#plant(client, group, '/milestones', { project_id: project.id, name: text() })
    await this.#plant(client, group, '/cycles', { team_id: team.id, name: text() })
    await this.#plant(client, group, '/views', { name: text(), query: 'status=todo', shared: true })
    const issue = await this.#plant(client, group, '/issues', {
      title: text(),
      description: text(),
      team_id: team.id,
      project_id: project.id,
      label_ids: [label.id],
    })
    const onIssue = { target_type: 'issue', target_id: issue.id }
    await this.#plant(client, group, '/comments', { ...onIssue, text: text() })
    await this.#plant(client, group, '/comments', { target_type: 'project', target_id: project.id, text: text() })
    if (!hidden) return
    // Here these are for some only and have groups of their own.
    await this.#plantPersonal(client, group)
    await this.#plant(client, group, '/comments', { ...onIssue, text: text(), internal: true })
    await this.#plant(client, group, '/workspaces/me/invitations', {
      email: `${this.canaries.new(group)}@example.com`,
      role: 'member',
    })
    await this.#plant(client, group, '/webhooks', this.#webhook(group))
    await this.#plant(
      client,
      group,
      '/agent-apps',
      this.#manifest(`App ${this.canaries.new(group)}`, [...appScopes], 'there'),
    )
  }

  async #plantPersonal(client: Client, group: Group) {
    const text = () => `Mine ${this.canaries.new(group)}`
    const issue = await this.#plant(client, group, '/issues', { title: text(), description: text(), personal: true })
    await this.#plant(client, group, '/comments', { target_type: 'issue', target_id: issue.id, text: text() })
    await this.#plant(client, group, '/projects', { title: text(), description: text(), personal: true })
    await this.#plant(client, group, '/views', { name: text(), query: 'q=mine', shared: false })
    // Managers read in the audit log what it is called.
    await this.#plant(client, group, '/agents/personal', { name: 'Quill', instructions: text() })
  }

  /** What some of this workspace must not read. */
  async #plantHidden(owner: Client) {
    const text = (group: Group) => `Hidden ${this.canaries.new(group)}`
    const ops = await this.#plant(owner, 'ops', '/teams', { name: text('ops'), key: 'OPS' })
    await owner.patch(`/teams/${ops.id}`, { guidance: text('ops'), repositories: [{ repository: text('ops') }] })
    const project = await this.#plant(owner, 'ops', '/projects', { title: text('ops'), team_ids: [ops.id] })
    await this.#plant(owner, 'ops', '/milestones', { project_id: project.id, name: text('ops') })
    await this.#plant(owner, 'ops', '/cycles', { team_id: ops.id, name: text('ops') })
    const issue = await this.#plant(owner, 'ops', '/issues', {
      title: text('ops'),
      description: text('ops'),
      team_id: ops.id,
    })
    const onIssue = { target_type: 'issue', target_id: issue.id }
    await this.#plant(owner, 'ops', '/comments', { ...onIssue, text: text('ops') })
    await this.#plant(owner, 'people', '/comments', { ...onIssue, text: text('people'), internal: true })
    await this.#plant(owner, 'managers', '/webhooks', this.#webhook('managers'))
    const email = `${this.canaries.new('managers')}@example.com`
    await this.#plant(owner, 'managers', '/workspaces/me/invitations', { email, role: 'member' })
  }

  #webhook(group: Group) {
    return {
      label: this.canaries.new(group),
      url: `${this.#hookUrl}/${group}?${this.canaries.new(group)}`,
      all_teams: true,
      resource_types: ['Issue', 'Comment', 'Project'],
    }
  }

  #manifest(name: string, scopes: string[], path = 'app') {
    return {
      schemaVersion: '1.0.0',
      name,
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirectUri], scopes },
      webhook: { url: `${this.#hookUrl}/${path}`, resource_types: ['Issue', 'Comment', 'Project'] },
    }
  }

  async #people_(here: Home, there: Home) {
    const person = (
      name: string,
      who: Account,
      mayRead: ReadonlySet<Group>,
      fits: Caller['fits'],
      workspaceId = here.id,
    ) => this.callers.push({ name, headers: { authorization: `Bearer ${who.token}` }, workspaceId, mayRead, fits })
    this.callers.push({ name: 'nobody', headers: {}, workspaceId: here.id, mayRead: nothing, fits: isOpen })
    person('owner', here.owner, owners, forManagers)
    person('admin', here.admin, admins, forManagers)
    person('member', here.member, members, forMembers)
    person('scribe', here.scribe, scribes, forMembers)
    person('newcomer', await this.#account('Newcomer'), admins, forMembers)
    person('owner of the other workspace', there.owner, elsewhere, isOpen)
    person('owner of the other workspace at home', there.owner, elsewhere, () => false, there.id)
    const { id } = here.removed
    await here.as(here.owner).delete(`/workspaces/me/members/${id}`)
    person('removed', here.removed, nothing, isOpen)
    const cookie = { cookie: `baton_session=${here.owner.token}` }
    const inBrowser = { workspaceId: here.id, mayRead: owners, fits: forManagers }
    this.callers.push({
      name: 'owner by cookie',
      headers: { ...cookie, 'sec-fetch-site': 'same-origin' },
      ...inBrowser,
    })
    this.callers.push({
      name: 'owner by cookie from elsewhere',
      headers: { ...cookie, origin: 'https://evil.invalid' },
      ...inBrowser,
      fits: isOpen,
    })
    this.spareEmail = here.spare.email
    for (let logins = 0; logins < 8; logins++) {
      const { body } = await this.nobody.post('/auth/sign-in', { email: here.spare.email, password })
      this.spareLogins.push(body.token)
    }
    for (const [name, who, mayRead] of [
      ['program of the owner', here.owner, without('there', 'scribe', 'managers', 'nobody')],
      ['program of the member', here.member, members],
    ] as const) {
      const { access_token } = await this.#program(here.as(who), here.id)
      person(name, { ...who, token: access_token }, mayRead, forPrograms)
    }
    this.things.guard((await here.as(here.owner).get('/auth/programs')).body.data[0].id, 'here')
    this.things.guard((await here.as(here.member).get('/auth/programs')).body.data[0].id, 'here')
    const free = await this.#program(here.as(here.owner), here.id)
    this.things.add('client', free.client_id)
    this.things.add('refresh', free.refresh_token)
  }

  /** A program that a person connects; its grant can be told from those of others by being the newest. */
  async #program(person: Client, workspaceId: string) {
    const { body } = await this.nobody.post('/oauth/register', { client_name: 'Editor', redirect_uris: [programUri] })
    const code = await this.#approved(
      person,
      { client_id: body.client_id, redirect_uri: programUri },
      { workspace_id: workspaceId },
    )
    return this.#tokens({ code, client_id: body.client_id, redirect_uri: programUri })
  }

  async #approved(person: Client, query: Record<string, string>, decision: object): Promise<string> {
    const asked = await person.get(
      `/oauth/authorize?${new URLSearchParams({
        response_type: 'code',
        scope: query.scope ?? 'read write',
        code_challenge: challenge.challenge,
        code_challenge_method: 'S256',
        ...query,
      })}`,
    )
    const request = new URL(asked.headers.get('location') ?? '').searchParams.get('request')
    const { body } = await person.post(`/oauth/requests/${request}/approve`, decision)
    return new URL(body.redirect_to).searchParams.get('code') ?? ''
  }

  async #tokens(form: Record<string, string>) {
    const { body } = await this.nobody.post('/oauth/token', undefined, {
      raw: new URLSearchParams({
        grant_type: 'authorization_code',
        code_verifier: challenge.verifier,
        ...form,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    this.canaries.secretsIn(body, 'nobody')
    return { ...body, client_id: form.client_id } as Record<string, string> & {
      access_token: string
      refresh_token: string
      client_id: string
    }
  }

  async #apps(here: Home, there: Home) {
    const owner = here.as(here.owner)
    const { data: teams } = (await owner.get('/teams')).body
    const ofOneTeam = {
      team_ids: teams.filter(({ key }: { key: string }) => key !== 'OPS').map(({ id }: { id: string }) => id),
    }
    const everywhere = { all_teams: true }
    const kinds: [name: string, scopes: string[], teams: object][] = [
      ['app everywhere', [...appScopes], everywhere],
      ['app of a team', [...appScopes], ofOneTeam],
      ['app that was uninstalled', [...appScopes], everywhere],
      ['app without scopes', [], ofOneTeam],
      ...appScopes.map((scope): [string, string[], object] => [`app with ${scope}`, [scope], ofOneTeam]),
    ]
    for (const [name, scopes, coverage] of kinds) {
      const installed = await this.#installed(owner, name, scopes, coverage)
      this.callers.push({
        name,
        headers: { authorization: `Bearer ${installed.access_token}` },
        workspaceId: here.id,
        mayRead: coverage === everywhere ? apps : appsOfOneTeam,
        fits: forApps(scopes.length > 0 ? scopes : ['read']),
      })
      if (name !== 'app that was uninstalled') continue
      await owner.delete(`/installations/${installed.installation_id}`)
      Object.assign(this.callers.at(-1) as Caller, { mayRead: nothing, fits: isOpen })
    }
    const foreign = await this.#installed(there.as(there.owner), 'Foreign', [...appScopes], everywhere, 'there')
    this.callers.push({
      name: 'app of the other workspace',
      headers: { authorization: `Bearer ${foreign.access_token}` },
      workspaceId: here.id,
      mayRead: elsewhere,
      fits: isOpen,
    })
    // One that may be changed, installed anew and deleted.
    const { body } = await owner.post('/agent-apps', this.#manifest('Free', [...appScopes], 'free'))
    this.things.add('app', body.app.id)
    this.things.add('client', body.client_id)
    this.things.add('client_secret', body.client_secret)
  }

  async #installed(owner: Client, name: string, scopes: string[], coverage: object, group: 'here' | 'there' = 'here') {
    const path = group === 'there' ? 'there' : 'all_teams' in coverage ? 'app' : 'app-of-a-team'
    const { body: registered } = await owner.post('/agent-apps', this.#manifest(name, scopes, path))
    this.canaries.secretsIn(registered, 'nobody')
    const { client_id, client_secret } = registered
    const query = { client_id, redirect_uri: redirectUri, actor: 'app', scope: scopes.join(' ') }
    const code = await this.#approved(owner, query, coverage)
    const tokens = await this.#tokens({ code, client_id, client_secret, redirect_uri: redirectUri })
    for (const id of [registered.app.id, tokens.installation_id as string, tokens.app_user_id as string]) {
      this.things.guard(id, group)
    }
    return tokens
  }
}
