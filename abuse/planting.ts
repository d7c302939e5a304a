import { setTimeout as sleep } from 'node:timers/promises'
import { appScopes } from '@baton/protocol'
import { daily } from '../server/test/automations.ts'
import type { Client } from '../server/test/client.ts'
import { type CreatedConnection, deliver, pullRequest } from '../server/test/git.ts'
import type { Canaries, Group } from './canaries.ts'
import type { KnownIds } from './known-ids.ts'

interface GuardedItem {
  client: Client
  path: string
  before: string
}

export const redirectUri = 'https://robots.example.com/callback'

/** Fills workspaces with items that requests may change, and with guarded items that contain canaries. */
export class Planting {
  readonly #canaries: Canaries
  readonly #knownIds: KnownIds
  readonly #hookUrl: string
  readonly #guarded: GuardedItem[] = []

  constructor(canaries: Canaries, knownIds: KnownIds, hookUrl: string) {
    this.#canaries = canaries
    this.#knownIds = knownIds
    this.#hookUrl = hookUrl
  }

  /** Remembers the guarded items, which must not change from now on. */
  async remember() {
    for (const item of this.#guarded) item.before = await read(item)
  }

  /** Guarded items that have changed. */
  async changed(): Promise<string[]> {
    const changed: string[] = []
    for (const item of this.#guarded) {
      const now = await read(item)
      if (now !== item.before) changed.push(`${item.path} was ${item.before} and is ${now}`)
    }
    return changed
  }

  /** One item of each kind that requests may change. */
  async seed(owner: Client, ownerId: string) {
    const make = async (path: string, body: object) => {
      const { body: made } = await owner.post(path, body)
      this.#knownIds.learn(JSON.stringify(made), undefined)
      return made
    }
    const team = await make('/teams', { name: 'Engineering', key: 'ENG' })
    const project = await make('/projects', { title: 'Plan', team_ids: [team.id] })
    await make('/milestones', { project_id: project.id, name: 'Alpha' })
    await make('/cycles', { team_id: team.id, name: 'Week 1' })
    await make('/labels', { name: 'Red' })
    await make('/initiatives', { name: 'Growth' })
    await make('/views', { name: 'Todo', query: 'status=todo', shared: true })
    await make('/templates', { name: 'Bug report', team_id: team.id })
    const issue = await make('/issues', { title: 'A bug', team_id: team.id, assignee_id: ownerId })
    this.#knownIds.add('code', issue.code)
    await make('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
    const { body: file } = await owner.post(`/files?name=a.txt&target_type=issue&target_id=${issue.id}`, undefined, {
      raw: 'Hello',
    })
    this.#knownIds.learn(JSON.stringify(file), undefined)
    const helper = await make('/agents/personal', { name: 'Helper', instructions: 'Help.' })
    this.#knownIds.add('personal agent', helper.id)
    await make('/webhooks', { label: 'Chat', url: this.#hookUrl, all_teams: true, resource_types: ['Issue'] })
    this.#knownIds.learn(JSON.stringify((await owner.post('/exports')).body), undefined)
    const connection = await make('/git-connections', { kind: 'github', name: 'Shop', repositories: ['acme/shop'] })
    await this.#pullRequest(owner, connection, `Part of ${issue.code}`, 'Oil the hinges')
    await make('/imports', { source: 'csv' })
    await this.#imports(owner)
    await make('/automations', {
      team_id: team.id,
      name: 'Daily',
      trigger: daily(),
      actions: [{ type: 'create_issue', title: 'Report' }],
    })
    await owner.put(`/teams/${team.id}/review`, { mode: 'on', accept_status: 'done' })
  }

  /** Imports that requests may start, and the people of one that is done. */
  async #imports(owner: Client) {
    const people = Array.from({ length: 8 }, (_, index) => `Imported,Engineering,${index}@elsewhere.example.com`)
    const raw = ['Title,Team,Assignee', ...people].join('\n')
    /** The worker reads and runs it meanwhile. */
    const reached = async (id: string, state: string) => {
      for (;;) {
        const { body } = await owner.get(`/imports/${id}`)
        if (body.state === state) return
        if (!['reading', 'running'].includes(body.state)) throw new Error(`the import is ${JSON.stringify(body)}`)
        await sleep(50)
      }
    }
    for (let imports = 0; imports < 8; imports++) {
      const { body } = await owner.post('/imports', { source: 'csv' })
      const headers = { 'content-type': 'text/csv' }
      await owner.post(`/imports/${body.id}/files?name=issues.csv`, undefined, { raw, headers })
      await owner.post(`/imports/${body.id}/read`)
      await reached(body.id, 'ready')
      if (imports > 0) this.#knownIds.add('ready import', body.id)
      else {
        await owner.post(`/imports/${body.id}/start`)
        await reached(body.id, 'done')
      }
    }
    const { data } = (await owner.get('/placeholders')).body
    for (const { id } of data) this.#knownIds.add('placeholder', id)
  }

  /** Agent sessions that requests may continue, with suggestions to decide and work to review. */
  async sessions(owner: Client, agentId: string, agent: Client) {
    const { data: teams } = (await owner.get('/teams')).body as { data: { id: string; key: string }[] }
    const team_id = teams.find(({ key }) => key === 'ENG')?.id
    for (let issues = 0; issues < 16; issues++) {
      const { body: issue } = await owner.post('/issues', { title: 'For you', team_id, delegate_id: agentId })
      const { body: sessions } = await owner.get(`/agent-sessions?issue_id=${issue.id}`)
      this.#knownIds.learn(JSON.stringify(sessions), issue.id)
      const path = `/agent-sessions/${sessions.data[0].id}`
      const suggestions = [{ field: 'priority', value: 'high', reason: 'It blocks others' }]
      const { body: suggested } = await agent.post(`${path}/suggestions`, { suggestions })
      this.#knownIds.learn(JSON.stringify(suggested), issue.id)
      this.#knownIds.add('issue with suggestions', issue.id)
      // The others stay open.
      if (issues < 8) await agent.post(`${path}/activities`, { content: { type: 'response', body: 'Done' } })
      else this.#knownIds.add('open session', sessions.data[0].id)
    }
    this.#knownIds.learn(JSON.stringify((await owner.get('/reviews')).body), undefined)
  }

  /** Items that all members may read. */
  async shared(client: Client, group: 'here' | 'there') {
    const plant = (path: string, body: object) => this.#plant(client, group, path, body)
    const text = () => `Text ${this.#canaries.new(group)}`
    const team = await plant('/teams', { name: text(), key: 'SHR' })
    await client.patch(`/teams/${team.id}`, { guidance: text(), repositories: [{ repository: text() }] })
    const project = await plant('/projects', { title: text(), description: text(), team_ids: [team.id] })
    const label = await plant('/labels', { name: text() })
    await plant('/initiatives', { name: text(), description: text() })
    await plant('/milestones', { project_id: project.id, name: text() })
    await plant('/cycles', { team_id: team.id, name: text() })
    await plant('/views', { name: text(), query: 'status=todo', shared: true })
    await plant('/templates', { name: text(), title: text(), description: text(), team_id: team.id })
    const actions = [{ type: 'create_issue', title: text() }]
    await plant('/automations', { name: text(), team_id: team.id, trigger: daily(), actions })
    const place = { team_id: team.id, project_id: project.id, label_ids: [label.id] }
    const issue = await plant('/issues', { title: text(), description: text(), ...place })
    await plant('/comments', { target_type: 'issue', target_id: issue.id, text: text() })
    await plant('/comments', { target_type: 'project', target_id: project.id, text: text() })
    return issue.id as string
  }

  /** Items that only their owner may read. */
  async personal(client: Client, group: Group) {
    const plant = (path: string, body: object) => this.#plant(client, group, path, body)
    const text = () => `Mine ${this.#canaries.new(group)}`
    const issue = await plant('/issues', { title: text(), description: text(), personal: true })
    await plant('/comments', { target_type: 'issue', target_id: issue.id, text: text() })
    await plant('/projects', { title: text(), description: text(), personal: true })
    await this.#plantFile(client, group, issue.id, text())
    await plant('/views', { name: text(), query: 'q=mine', shared: false })
    // Without a canary in the name: managers can read it in the audit log.
    await plant('/agents/personal', { name: 'Quill', instructions: text() })
  }

  /** Items for managers, and internal comments for members. With `group`, all of it is of that group. */
  async internal(client: Client, issueId: string, group?: Group) {
    const [people, managers] = [group ?? 'people', group ?? 'managers']
    const onIssue = { target_type: 'issue', target_id: issueId, internal: true }
    for (let comments = 0; comments < 3; comments++) {
      await this.#plant(client, people, '/comments', { ...onIssue, text: this.#canaries.new(people) })
    }
    const email = `${this.#canaries.new(managers)}@example.com`
    await this.#plant(client, managers, '/workspaces/me/invitations', { email, role: 'member' })
    await this.#plant(client, managers, '/webhooks', {
      label: this.#canaries.new(managers),
      url: `${this.#hookUrl}/${managers}?${this.#canaries.new(managers)}`,
      all_teams: true,
      resource_types: ['Issue', 'Comment', 'Project'],
    })
    await this.#plant(client, managers, '/git-connections', {
      kind: 'github',
      name: this.#canaries.new(managers),
      repositories: [`acme/${this.#canaries.new(managers)}`],
      token: this.#canaries.new('secret'),
    })
    const imported = await this.#plant(client, managers, '/imports', {
      source: 'github',
      repository: 'acme/shop',
      key: this.#canaries.new('secret'),
    })
    await client.patch(`/imports/${imported.id}`, { mapping: { labels: { [this.#canaries.new(managers)]: 'skip' } } })
  }

  /** Items that apps of another team must not read. */
  async ofAnotherTeam(owner: Client) {
    const plant = (path: string, body: object) => this.#plant(owner, 'ops', path, body)
    const text = () => `Hidden ${this.#canaries.new('ops')}`
    const team = await plant('/teams', { name: text(), key: 'OPS' })
    await owner.patch(`/teams/${team.id}`, { guidance: text(), repositories: [{ repository: text() }] })
    const project = await plant('/projects', { title: text(), team_ids: [team.id] })
    await plant('/milestones', { project_id: project.id, name: text() })
    await plant('/cycles', { team_id: team.id, name: text() })
    await plant('/templates', { name: text(), team_id: team.id })
    await plant('/templates', { name: text() })
    const issue = await plant('/issues', { title: text(), description: text(), team_id: team.id })
    await plant('/comments', { target_type: 'issue', target_id: issue.id, text: text() })
    const connection = { kind: 'github', name: 'Ops', repositories: ['acme/shop'], team_ids: [team.id] }
    await this.#pullRequest(owner, await plant('/git-connections', connection), `Part of ${issue.code}`, text())
  }

  /** A pull request as the git host reports it. */
  async #pullRequest(client: Client, connection: CreatedConnection, body: string, title: string) {
    await deliver(client, connection, pullRequest({ title, body }))
    this.#knownIds.learn(JSON.stringify((await client.get('/pull-requests')).body), undefined)
  }

  async app(client: Client, group: Group) {
    await this.#plant(
      client,
      group,
      '/agent-apps',
      this.manifest(`App ${this.#canaries.new(group)}`, [...appScopes], group),
    )
  }

  manifest(name: string, scopes: readonly string[], path: string) {
    return {
      schemaVersion: '1.0.0',
      name,
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: [redirectUri], scopes },
      webhook: { url: `${this.#hookUrl}/${path}`, resource_types: ['Issue', 'Comment', 'Project'] },
    }
  }

  /** A guarded file with a canary as its name and its content. */
  async #plantFile(client: Client, group: Group, issueId: string, raw: string) {
    const query = new URLSearchParams({ name: raw, target_type: 'issue', target_id: issueId })
    const { body: file } = await client.post(`/files?${query}`, undefined, { raw })
    this.#knownIds.guard(file.id, group)
    if (group === 'there') this.#canaries.id(file.id, 'there')
    this.#guarded.push({ client, path: `/files/${file.id}`, before: '' })
  }

  /** Creates a guarded item. */
  async #plant(client: Client, group: Group, path: string, body: object) {
    const { body: made } = await client.post(path, body)
    this.#canaries.secretsIn(made, group)
    const id: string = (made.app ?? made.invitation ?? made).id
    this.#knownIds.guard(id, group)
    // The same code may exist in the other workspace.
    if (made.code && group !== 'there') this.#knownIds.guard(made.code, group, 'code')
    // Within a workspace an id may appear in a reference.
    if (group === 'there') this.#canaries.id(id, 'there')
    if (/^\/(issues|projects|comments|webhooks|agent-apps|automations)$/.test(path)) {
      this.#guarded.push({ client, path: `${path}/${id}`, before: '' })
    }
    return made
  }
}

const read = async ({ client, path }: GuardedItem) => JSON.stringify((await client.get(path)).body)
