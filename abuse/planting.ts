import { appScopes } from '@baton/protocol'
import type { Client } from '../server/test/client.ts'
import type { Canaries, Group } from './canaries.ts'
import type { Things } from './things.ts'

interface Watched {
  client: Client
  path: string
  before: string
}

export const redirectUri = 'https://robots.example.com/callback'

/** Fills workspaces: with what is free for all, and with what bears canaries. */
export class Planting {
  readonly #canaries: Canaries
  readonly #things: Things
  readonly #hookUrl: string
  readonly #watched: Watched[] = []

  constructor(canaries: Canaries, things: Things, hookUrl: string) {
    this.#canaries = canaries
    this.#things = things
    this.#hookUrl = hookUrl
  }

  /** From here on it has to stay as it is. */
  async remember() {
    for (const watched of this.#watched) watched.before = await seen(watched)
  }

  /** What is no longer as it was. */
  async changed(): Promise<string[]> {
    const changed: string[] = []
    for (const watched of this.#watched) {
      const now = await seen(watched)
      if (now !== watched.before) changed.push(`${watched.path} was ${watched.before} and is ${now}`)
    }
    return changed
  }

  /** One of everything that may be changed, for requests to begin with. */
  async seed(owner: Client, ownerId: string) {
    const make = async (path: string, body: object) => {
      const { body: made } = await owner.post(path, body)
      this.#things.learn(JSON.stringify(made), undefined)
      return made
    }
    const team = await make('/teams', { name: 'Engineering', key: 'ENG' })
    const project = await make('/projects', { title: 'Plan', team_ids: [team.id] })
    await make('/milestones', { project_id: project.id, name: 'Alpha' })
    await make('/cycles', { team_id: team.id, name: 'Week 1' })
    await make('/labels', { name: 'Red' })
    await make('/initiatives', { name: 'Growth' })
    await make('/views', { name: 'Todo', query: 'status=todo', shared: true })
    const issue = await make('/issues', { title: 'A bug', team_id: team.id, assignee_id: ownerId })
    this.#things.add('code', issue.code)
    await make('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
    await make('/agents/personal', { name: 'Helper', instructions: 'Help.' })
    await make('/webhooks', { label: 'Chat', url: this.#hookUrl, all_teams: true, resource_types: ['Issue'] })
  }

  /** Work that an agent has been given, for it and for people to go on with. */
  async sessions(owner: Client, agentId: string) {
    const { data: teams } = (await owner.get('/teams')).body as { data: { id: string; key: string }[] }
    const team_id = teams.find(({ key }) => key === 'ENG')?.id
    for (let issues = 0; issues < 4; issues++) {
      const { body: issue } = await owner.post('/issues', { title: 'For you', team_id, delegate_id: agentId })
      this.#things.learn(JSON.stringify((await owner.get(`/agent-sessions?issue_id=${issue.id}`)).body), issue.id)
    }
  }

  /** What everybody in a workspace may read. */
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
    const place = { team_id: team.id, project_id: project.id, label_ids: [label.id] }
    const issue = await plant('/issues', { title: text(), description: text(), ...place })
    await plant('/comments', { target_type: 'issue', target_id: issue.id, text: text() })
    await plant('/comments', { target_type: 'project', target_id: project.id, text: text() })
    return issue.id as string
  }

  /** What its owner alone may read. */
  async personal(client: Client, group: Group) {
    const plant = (path: string, body: object) => this.#plant(client, group, path, body)
    const text = () => `Mine ${this.#canaries.new(group)}`
    const issue = await plant('/issues', { title: text(), description: text(), personal: true })
    await plant('/comments', { target_type: 'issue', target_id: issue.id, text: text() })
    await plant('/projects', { title: text(), description: text(), personal: true })
    await plant('/views', { name: text(), query: 'q=mine', shared: false })
    // Managers read in the audit log what it is called.
    await plant('/agents/personal', { name: 'Quill', instructions: text() })
  }

  /** What is for managers, and in a comment for people; elsewhere it is all of one group. */
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
  }

  /** What apps of another team must not read. */
  async ofAnotherTeam(owner: Client) {
    const plant = (path: string, body: object) => this.#plant(owner, 'ops', path, body)
    const text = () => `Hidden ${this.#canaries.new('ops')}`
    const team = await plant('/teams', { name: text(), key: 'OPS' })
    await owner.patch(`/teams/${team.id}`, { guidance: text(), repositories: [{ repository: text() }] })
    const project = await plant('/projects', { title: text(), team_ids: [team.id] })
    await plant('/milestones', { project_id: project.id, name: text() })
    await plant('/cycles', { team_id: team.id, name: text() })
    const issue = await plant('/issues', { title: text(), description: text(), team_id: team.id })
    await plant('/comments', { target_type: 'issue', target_id: issue.id, text: text() })
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

  /** Makes something that nobody changes who may. */
  async #plant(client: Client, group: Group, path: string, body: object) {
    const { body: made } = await client.post(path, body)
    this.#canaries.secretsIn(made, group)
    const id: string = (made.app ?? made.invitation ?? made).id
    this.#things.guard(id, group)
    // Elsewhere the same code is something else.
    if (made.code && group !== 'there') this.#things.guard(made.code, group, 'code')
    // Within a workspace an id can be met with in a reference, and tells little.
    if (group === 'there') this.#canaries.id(id, 'there')
    if (/^\/(issues|projects|comments|webhooks|agent-apps)$/.test(path)) {
      this.#watched.push({ client, path: `${path}/${id}`, before: '' })
    }
    return made
  }
}

const seen = async ({ client, path }: Watched) => JSON.stringify((await client.get(path)).body)
