import { randomBytes } from 'node:crypto'
import { appScopes } from '@baton/protocol'
import { Client } from '../server/test/client.ts'
import { Contract } from '../server/test/contract.ts'
import { pkce } from '../server/test/oauth.ts'
import { type Caller, forApps, forManagers, forMembers, forPrograms, mayRead, open } from './callers.ts'
import { Canaries, type Group } from './canaries.ts'
import { KnownIds } from './known-ids.ts'
import { Planting, redirectUri } from './planting.ts'

interface Account {
  id: string
  email: string
  token: string
}

const roles = { admin: 'admin', member: 'member', scribe: 'member', removed: 'admin', spare: 'member' } as const

/** A workspace and its members. */
interface Home {
  id: string
  people: Record<'owner' | keyof typeof roles, Account>
  as: (person: Account) => Client
}

export const password = 'correct horse battery staple'
export const programUri = 'http://127.0.0.1:4000/callback'
/** The same for all grants, so that any code found can be exchanged. */
export const challenge = pkce()

/** Two workspaces with every kind of caller, and canaries in every field that some callers must not read. */
export class World {
  readonly canaries = new Canaries()
  readonly knownIds = new KnownIds()
  readonly callers: Caller[] = []
  /** An account whose logins may be ended. */
  readonly spare = { email: '', tokens: [] as string[] }
  /** Logins of accounts that may be deleted. */
  readonly leaving: string[] = []
  readonly anonymous: Client
  readonly contract: Contract
  readonly #planting: Planting
  #accounts = 0

  private constructor(rootUrl: string, contract: Contract, hookUrl: string) {
    this.contract = contract
    this.anonymous = new Client(rootUrl, contract)
    this.#planting = new Planting(this.canaries, this.knownIds, hookUrl)
  }

  /** `hookUrl`: the only allowed destination of webhooks. */
  static async create(rootUrl: string, document: object, hookUrl: string): Promise<World> {
    const world = new World(rootUrl, new Contract(document as never), hookUrl)
    await world.#fill()
    return world
  }

  caller(name: string): Caller {
    const found = this.callers.find((caller) => caller.name === name)
    if (!found) throw new Error(`unknown caller ${name}`)
    return found
  }

  /** Items with canaries that have changed. */
  changed = () => this.#planting.changed()

  async #fill() {
    const [here, there] = [await this.#workspace('here'), await this.#workspace('there')]
    const [owner, other] = [here.as(here.people.owner), there.as(there.people.owner)]
    const planting = this.#planting
    await planting.seed(owner, here.people.owner.id)
    await planting.internal(owner, await planting.shared(owner, 'here'))
    await planting.ofAnotherTeam(owner)
    await planting.personal(owner, 'owner')
    await planting.personal(here.as(here.people.scribe), 'scribe')
    await planting.internal(other, await planting.shared(other, 'there'), 'there')
    await planting.personal(other, 'there')
    await planting.app(other, 'there')
    await this.#people(here, there)
    await this.#programs(here)
    await this.#personalTokens(here)
    await this.#apps(here, there)
    await planting.remember()
  }

  async #account(name: string): Promise<Account> {
    const email = `person-${++this.#accounts}-${randomBytes(4).toString('hex')}@example.com`
    const { body } = await this.anonymous.post('/auth/sign-up', { email, password, name })
    this.canaries.secretsIn(body, 'secret')
    return { id: body.user.id, email, token: body.token }
  }

  async #workspace(group: 'here' | 'there'): Promise<Home> {
    const owner = await this.#account(`Owner ${this.canaries.new(group)}`)
    const login = this.anonymous.with({ authorization: `Bearer ${owner.token}` })
    const { body: workspace } = await login.post('/workspaces', { name: `Acme ${this.canaries.new(group)}` })
    const id: string = workspace.id
    const as = ({ token }: Account) => this.anonymous.with({ authorization: `Bearer ${token}`, 'x-workspace-id': id })
    const people = { owner } as Home['people']
    for (const [name, role] of Object.entries(roles) as [keyof typeof roles, string][]) {
      // They leave the workspace, but can still read their own name.
      const isOutside = name === 'removed' || name === 'spare'
      people[name] = await this.#account(isOutside ? name : `${name} ${this.canaries.new(group)}`)
      const { body } = await as(owner).post('/workspaces/me/invitations', { email: people[name].email, role })
      await as(people[name]).post('/invitations/accept', { token: body.token })
    }
    await as(owner).patch('/workspaces/me', { guidance: `Be kind, ${this.canaries.new(group)}` })
    for (const guarded of [id, ...Object.values(people).map((person) => person.id)]) {
      this.knownIds.guard(guarded, group)
      if (group === 'there') this.canaries.id(guarded, 'there')
    }
    return { id, people, as }
  }

  async #people({ id, people, as }: Home, there: Home) {
    const add = (
      name: string,
      headers: Caller['headers'],
      reads: ReadonlySet<Group>,
      fits: Caller['fits'],
      workspaceId = id,
    ) => this.callers.push({ name, headers, workspaceId, mayRead: reads, fits })
    const bearer = ({ token }: Account) => ({ authorization: `Bearer ${token}` })
    add('anonymous', {}, mayRead.nothing, open)
    add('owner', bearer(people.owner), mayRead.owner, forManagers)
    add('admin', bearer(people.admin), mayRead.admin, forManagers)
    add('member', bearer(people.member), mayRead.member, forMembers)
    add('scribe', bearer(people.scribe), mayRead.scribe, forMembers)
    // Joins by invitation, with any role.
    add('newcomer', bearer(await this.#account('Newcomer')), mayRead.admin, ({ caller }) => caller === 'person')
    add('owner of the other workspace', bearer(there.people.owner), mayRead.elsewhere, open)
    add('owner of the other workspace at home', bearer(there.people.owner), mayRead.elsewhere, () => false, there.id)
    add('removed', bearer(people.removed), mayRead.nothing, open)
    await as(people.owner).delete(`/workspaces/me/members/${people.removed.id}`)
    const cookie = { cookie: `baton_session=${people.owner.token}` }
    add('owner by cookie', { ...cookie, 'sec-fetch-site': 'same-origin' }, mayRead.owner, forManagers)
    add('owner by cookie from elsewhere', { ...cookie, origin: 'https://evil.invalid' }, mayRead.owner, open)
    // Members whose role may change, or who may be removed.
    for (let others = 0; others < 4; others++) {
      const other = await this.#account('Other')
      const { body } = await as(people.owner).post('/workspaces/me/invitations', { email: other.email, role: 'member' })
      await as(other).post('/invitations/accept', { token: body.token })
      this.knownIds.add('usr', other.id)
      this.knownIds.add('free member', other.id)
    }
    for (let count = 0; count < 3; count++) this.leaving.push((await this.#account('Leaving')).token)
    this.spare.email = people.spare.email
    for (let logins = 0; logins < 40; logins++) {
      const { body } = await this.anonymous.post('/auth/sign-in', { email: people.spare.email, password })
      this.spare.tokens.push(body.token)
    }
    const { data: logins } = (await as(people.spare).get('/auth/logins')).body
    for (const { id } of logins) this.knownIds.add('lgn', id)
  }

  async #programs({ id, people, as }: Home) {
    for (const [name, who, reads] of [
      ['program of the owner', people.owner, mayRead.programOfOwner],
      ['program of the member', people.member, mayRead.member],
    ] as const) {
      const { access_token } = await this.#program(as(who), id)
      const headers = { authorization: `Bearer ${access_token}` }
      this.callers.push({ name, headers, workspaceId: id, mayRead: reads, fits: forPrograms })
      this.knownIds.guard((await as(who).get('/auth/programs')).body.data[0].id, 'here')
    }
    // One whose access may be revoked.
    const { client_id, refresh_token } = await this.#program(as(people.owner), id)
    this.knownIds.add('program', client_id)
    this.knownIds.add('refresh', refresh_token)
  }

  async #personalTokens({ id, people, as }: Home) {
    const { data: teams } = (await as(people.owner).get('/teams')).body as { data: { id: string; key: string }[] }
    const team_ids = teams.filter(({ key }) => key !== 'OPS').map((team) => team.id)
    for (const [name, who, reads, limits] of [
      ['personal token of the owner', people.owner, mayRead.programOfOwner, {}],
      ['personal token of the member for a team', people.member, mayRead.memberOfOneTeam, { team_ids }],
    ] as const) {
      const wanted = { name: 'Script', scopes: ['read', 'write'], ...limits }
      const { body } = await as(who).post('/personal-tokens', wanted)
      this.canaries.secretsIn(body, 'secret')
      this.knownIds.guard(body.personal_token.id, 'here')
      const headers = { authorization: `Bearer ${body.token}` }
      this.callers.push({ name, headers, workspaceId: id, mayRead: reads, fits: forPrograms })
    }
    // One that may be revoked.
    const { body } = await as(people.owner).post('/personal-tokens', { name: 'Free', scopes: ['read'] })
    this.knownIds.add('pat', body.personal_token.id)
  }

  async #apps({ id, people, as }: Home, there: Home) {
    const owner = as(people.owner)
    const { data: teams } = (await owner.get('/teams')).body as { data: { id: string; key: string }[] }
    const everywhere = { all_teams: true }
    const ofOneTeam = { team_ids: teams.filter(({ key }) => key !== 'OPS').map((team) => team.id) }
    const add = (name: string, token: string, reads: ReadonlySet<Group>, fits: Caller['fits']) =>
      this.callers.push({ name, headers: { authorization: `Bearer ${token}` }, workspaceId: id, mayRead: reads, fits })

    const whole = await this.#installed(owner, 'app', appScopes, everywhere)
    add('app everywhere', whole.access_token, mayRead.app, forApps(appScopes))
    for (const scopes of [appScopes, [], ...appScopes.map((scope) => [scope])]) {
      const { access_token } = await this.#installed(owner, 'app-of-a-team', scopes, ofOneTeam)
      const name = `app of a team with ${scopes.join(' ') || 'no scope'}`
      add(name, access_token, mayRead.appOfOneTeam, forApps(scopes.length > 0 ? scopes : ['read']))
    }
    const gone = await this.#installed(owner, 'app', appScopes, everywhere)
    await owner.delete(`/installations/${gone.installation_id}`)
    add('app that was uninstalled', gone.access_token, mayRead.nothing, open)
    const foreign = await this.#installed(there.as(there.people.owner), 'there', appScopes, everywhere)
    add('app of the other workspace', foreign.access_token, mayRead.elsewhere, open)

    // One that may be changed, reinstalled and deleted.
    const { body } = await owner.post('/agent-apps', this.#planting.manifest('Free', appScopes, 'free'))
    this.knownIds.add('app', body.app.id)
    this.knownIds.add('client', body.client_id)
    this.knownIds.add('client_secret', body.client_secret)
    const query = { client_id: body.client_id, redirect_uri: redirectUri, actor: 'app', scope: 'read' }
    this.knownIds.add('code of a grant', await this.#approved(owner, query, everywhere))
    this.knownIds.learn(JSON.stringify((await owner.get('/installations')).body), undefined)
    const robot = this.anonymous.with({ authorization: `Bearer ${whole.access_token}`, 'x-workspace-id': id })
    await this.#planting.sessions(owner, whole.app_user_id, robot)
  }

  /** The app is guarded; its webhooks go to this path. */
  async #installed(owner: Client, path: string, scopes: readonly string[], coverage: object) {
    const { body: registered } = await owner.post('/agent-apps', this.#planting.manifest('Robot', scopes, path))
    this.canaries.secretsIn(registered, 'secret')
    const { client_id, client_secret } = registered
    const query = { client_id, redirect_uri: redirectUri, actor: 'app', scope: scopes.join(' ') }
    const code = await this.#approved(owner, query, coverage)
    const tokens = await this.#tokens({ code, client_id, client_secret, redirect_uri: redirectUri })
    for (const id of [registered.app.id, tokens.installation_id, tokens.app_user_id]) {
      this.knownIds.guard(id, path === 'there' ? 'there' : 'here')
    }
    return tokens
  }

  async #program(person: Client, workspaceId: string) {
    const { body } = await this.anonymous.post('/oauth/register', {
      client_name: 'Editor',
      redirect_uris: [programUri],
    })
    const client = { client_id: body.client_id, redirect_uri: programUri }
    const code = await this.#approved(person, { ...client, scope: 'read write' }, { workspace_id: workspaceId })
    return { ...(await this.#tokens({ ...client, code })), client_id: body.client_id as string }
  }

  async #approved(person: Client, query: Record<string, string>, decision: object): Promise<string> {
    const proof = { response_type: 'code', code_challenge: challenge.challenge, code_challenge_method: 'S256' }
    const redirected = await person.get(`/oauth/authorize?${new URLSearchParams({ ...query, ...proof })}`)
    const request = new URL(redirected.headers.get('location') ?? '').searchParams.get('request')
    const { body } = await person.post(`/oauth/requests/${request}/approve`, decision)
    return new URL(body.redirect_to).searchParams.get('code') ?? ''
  }

  async #tokens(form: Record<string, string>) {
    const fields = { grant_type: 'authorization_code', code_verifier: challenge.verifier, ...form }
    const { body } = await this.anonymous.post('/oauth/token', undefined, {
      raw: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    this.canaries.secretsIn(body, 'secret')
    return body as Record<'access_token' | 'refresh_token' | 'installation_id' | 'app_user_id', string>
  }
}
