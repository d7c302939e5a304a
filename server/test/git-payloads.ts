import { createHmac } from 'node:crypto'
import type { GitKind } from '@baton/protocol'

// Requests of git hosts, for tests of the server and of the browser.

export const repository = 'acme/shop'

export const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]) => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

/** The key of GitLab's signature: the bytes of the secret. */
export const gitlabKey = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64')

const events = { github: 'pull_request', gitea: 'pull_request', forgejo: 'pull_request', gitlab: 'Merge Request Hook' }

/** The headers with which a git host of this kind sends a body. */
export function signed(kind: GitKind, secret: string, raw: string, event: string = events[kind], now = new Date()) {
  switch (kind) {
    case 'github':
      return { 'x-github-event': event, 'x-hub-signature-256': `sha256=${hmac(secret, raw).toString('hex')}` }
    case 'gitea':
      return { 'x-gitea-event': event, 'x-gitea-signature': hmac(secret, raw).toString('hex') }
    case 'forgejo':
      return {
        'x-forgejo-event': event,
        'x-gitea-event': event,
        'x-forgejo-signature': hmac(secret, raw).toString('hex'),
        'x-gitea-signature': hmac(secret, raw).toString('hex'),
      }
    case 'gitlab': {
      const [id, timestamp] = ['msg_1', String(Math.floor(now.getTime() / 1000))]
      const signature = hmac(gitlabKey(secret), `${id}.${timestamp}.`, raw).toString('base64')
      return {
        'x-gitlab-event': event,
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      }
    }
  }
}

export interface PullRequestFields {
  action?: string
  number?: number
  title?: string
  body?: string | null
  branch?: string
  state?: 'open' | 'closed'
  draft?: boolean
  merged?: boolean
  /** The repository of the branch. */
  from?: string | null
  sha?: string
  updated?: string
  private?: boolean
  reviewers?: string[]
  repository?: string
}

/** The pull request of GitHub's events, in which Gitea and Forgejo agree. */
export const pullRequest = (fields: PullRequestFields = {}) => {
  const { number = 7, title = 'Oil the hinges', branch = 'oil', state = 'open', draft = false, merged = false } = fields
  const { from = repository, sha = 'a'.repeat(40), updated = '2026-03-02T08:00:00Z', reviewers = [] } = fields
  const target = fields.repository ?? repository
  return {
    action: fields.action ?? 'opened',
    number,
    pull_request: {
      number,
      title,
      body: fields.body ?? null,
      html_url: `https://github.com/${target}/pull/${number}`,
      state: merged ? 'closed' : state,
      draft,
      merged,
      merged_at: merged ? updated : null,
      updated_at: updated,
      user: { login: 'ada' },
      head: { ref: branch, sha, repo: from === null ? null : { full_name: from } },
      base: { ref: 'main', repo: { full_name: target } },
      requested_reviewers: reviewers.map((login) => ({ login })),
      requested_teams: [],
    },
    repository: repositoryFields(target, fields.private ?? true),
    sender: { login: 'ada' },
  }
}

export const repositoryFields = (name = repository, isPrivate = true) => ({
  full_name: name,
  private: isPrivate,
  html_url: `https://github.com/${name}`,
})

/** A merge request of GitLab's events; `attributes` are added to `object_attributes`. */
export const mergeRequest = (attributes: object = {}, more: object = {}) => ({
  object_kind: 'merge_request',
  event_type: 'merge_request',
  user: { username: 'ada', name: 'Ada' },
  project: { path_with_namespace: repository, web_url: `https://gitlab.com/${repository}`, visibility_level: 0 },
  object_attributes: {
    iid: 7,
    title: 'Oil the hinges',
    description: '',
    state: 'opened',
    action: 'open',
    draft: false,
    source_branch: 'oil',
    target_branch: 'main',
    source_project_id: 1,
    target_project_id: 1,
    last_commit: { id: 'a'.repeat(40) },
    url: `https://gitlab.com/${repository}/-/merge_requests/7`,
    updated_at: '2026-03-02 08:00:00 UTC',
    ...attributes,
  },
  ...more,
})

export const push = (branch: string, { deleted = false, at = 1772438400 } = {}) => ({
  ref: `refs/heads/${branch}`,
  before: deleted ? 'a'.repeat(40) : '0'.repeat(40),
  after: deleted ? '0'.repeat(40) : 'a'.repeat(40),
  created: !deleted,
  deleted,
  forced: false,
  commits: [],
  repository: { ...repositoryFields(), pushed_at: at },
  pusher: { name: 'ada' },
})
