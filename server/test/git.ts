import type { GitConnection, PullRequest } from '@baton/protocol'
import { expect } from 'vitest'
import type { Client } from './client.ts'
import { type PullRequestFields, pullRequest, repository, signed } from './git-payloads.ts'
import type { TestApp, TestPerson } from './harness.ts'
import { type IssueScene, issueScene, makeIssue } from './issues.ts'

export * from './git-payloads.ts'

export type CreatedConnection = GitConnection & { secret: string }

export async function connect(owner: TestPerson, fields: object = {}): Promise<CreatedConnection> {
  const created = await owner.post('/git-connections', {
    kind: 'github',
    name: 'Shop',
    repositories: [repository],
    ...fields,
  })
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  return created.body
}

/** Sends a body to a connection as its git host does. */
export const deliver = (
  client: Client,
  { id, kind, secret }: Pick<CreatedConnection, 'id' | 'kind' | 'secret'>,
  body: object,
  event?: string,
  now?: Date,
) => {
  const raw = JSON.stringify(body)
  return client.postRoot(`/hooks/git/${id}`, undefined, { raw, headers: signed(kind, secret, raw, event, now) })
}

export interface GitScene extends IssueScene {
  connection: CreatedConnection
  issue: { id: string; code: string }
  /** Sends a pull request with these fields. */
  send: (fields?: PullRequestFields, event?: string) => ReturnType<typeof deliver>
  sendBody: (body: object, event: string) => ReturnType<typeof deliver>
  pullRequests: (query?: string, by?: Client) => Promise<PullRequest[]>
  status: (issue?: { id: string }) => Promise<string>
  /** Updates that come later than all before. */
  later: () => string
}

/** A workspace with a connection, two teams and an issue of the first. */
export async function gitScene(app: TestApp, fields: object = {}): Promise<GitScene> {
  const scene = await issueScene(app)
  const { owner } = scene
  const connection = await connect(owner, fields)
  const issue = await makeIssue(scene, { status: 'todo' })
  const sendBody = (body: object, event: string) => deliver(app.anonymous, connection, body, event, app.clock.now())
  let minute = 0
  return {
    ...scene,
    connection,
    issue,
    sendBody,
    send: (more = {}, event = 'pull_request') => sendBody(pullRequest(more), event),
    pullRequests: async (query = '', by: Client = owner) => (await by.get(`/pull-requests${query}`)).body.data,
    status: async (one = issue) => (await owner.get(`/issues/${one.id}`)).body.status,
    later: () => new Date(Date.parse('2026-03-02T08:00:00Z') + ++minute * 60_000).toISOString(),
  }
}

/** A connection of the workspace, and a pull request that is linked to the issue. */
export async function pullRequestScene(owner: TestPerson, issue: { id: string; code: string }) {
  const connection = await connect(owner)
  // Names the issue without closing it, so that its status stays.
  await deliver(owner, connection, pullRequest({ body: `Part of ${issue.code}` }))
  const { body } = await owner.get('/pull-requests')
  return { connection, pullRequest: body.data[0] as PullRequest }
}
