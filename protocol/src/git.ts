import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, Page, paging, Timestamp } from './common.ts'
import { IssueStatus, issueStatuses } from './issues.ts'
import { limits, programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref, Refs } from './tracker.ts'

export const GitKind = Type.Enum(['github', 'gitlab', 'gitea', 'forgejo'], {
  'x-message': 'must be github, gitlab, gitea or forgejo',
})
export type GitKind = Static<typeof GitKind>

const connectionFields = {
  id: id('gcn'),
  kind: GitKind,
  name: Type.String(),
  host: Type.String(),
  repositories: Type.Array(Type.String()),
  /** Null for all teams. */
  team_ids: nullable(Type.Array(id('team'))),
  has_token: Type.Boolean(),
  /** Last verified request; null before the first. */
  received_at: nullable(Timestamp),
  /** Requests with an invalid signature. */
  refused: Type.Integer(),
}
export const GitConnection = Type.Object(connectionFields, { ...closed, title: 'GitConnection' })
export type GitConnection = Static<typeof GitConnection>

const Secret = Type.String({ pattern: '^whsec_[A-Za-z0-9+/]{43}=$' })
const CreatedConnection = Type.Object(
  { ...connectionFields, secret: Secret },
  { ...closed, title: 'CreatedGitConnection' },
)
const GitSecret = Type.Object({ secret: Secret }, { ...closed, title: 'GitSecret' })

const writable = {
  name: Name,
  /** `http://` is accepted only for hosts that the operator allowed. */
  host: Type.String({
    maxLength: programLimits.gitHost,
    pattern: '^(https?://)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?/?$',
    'x-message': 'must be a host name such as git.example.com, without a path',
  }),
  repositories: Type.Array(
    Type.String({
      maxLength: limits.repository,
      pattern: '^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$',
      'x-message': `must be owner/name, with at most ${limits.repository} characters`,
    }),
    {
      minItems: 1,
      maxItems: programLimits.gitRepositories,
      uniqueItems: true,
      'x-message': `must contain 1 to ${programLimits.gitRepositories} repositories, each once`,
    },
  ),
  team_ids: nullable(Refs),
  /** Null removes it. */
  token: nullable(
    Type.String({
      minLength: 1,
      maxLength: programLimits.gitToken,
      pattern: '^[\\x21-\\x7e]+$',
      'x-message': `must have 1 to ${programLimits.gitToken} characters, without spaces`,
    }),
  ),
}
export const NewGitConnection = Type.Object(
  {
    kind: GitKind,
    name: writable.name,
    host: Type.Optional(writable.host),
    repositories: writable.repositories,
    team_ids: Type.Optional(writable.team_ids),
    token: Type.Optional(writable.token),
  },
  closed,
)
export type NewGitConnection = Static<typeof NewGitConnection>
export const GitConnectionChange = Type.Partial(Type.Object(writable), closed)
export type GitConnectionChange = Static<typeof GitConnectionChange>

export const gitOutcomes = [
  'linked',
  'updated',
  'no_code',
  'ignored_event',
  'ignored_repository',
  'stale',
  'duplicate',
] as const
export const GitOutcome = Type.Enum(gitOutcomes)
export type GitOutcome = Static<typeof GitOutcome>

export const GitDelivery = Type.Object(
  {
    id: id('gdl'),
    /** As the header named it, which is not signed. */
    event: Type.String(),
    outcome: GitOutcome,
    /** Null if the body names none. */
    repository: nullable(Type.String()),
    number: nullable(Type.Integer()),
    pull_request_id: nullable(id('pr')),
    /** The comment on the pull request; null if none is to be posted. */
    comment: nullable(Type.Enum(['waiting', 'posted', 'failed'])),
    received_at: Timestamp,
  },
  { ...closed, title: 'GitDelivery' },
)
export type GitDelivery = Static<typeof GitDelivery>

export const pullRequestStates = ['open', 'draft', 'merged', 'closed'] as const
export const PullRequestState = Type.Enum(pullRequestStates, {
  'x-message': 'must be open, draft, merged or closed',
})
export type PullRequestState = Static<typeof PullRequestState>
export const ReviewState = Type.Enum(['requested', 'approved', 'changes_requested'])
export type ReviewState = Static<typeof ReviewState>
export const ChecksState = Type.Enum(['pending', 'passed', 'failed'])
export type ChecksState = Static<typeof ChecksState>

export const PullRequest = Type.Object(
  {
    id: id('pr'),
    connection_id: id('gcn'),
    repository: Type.String(),
    number: Type.Integer(),
    title: Type.String(),
    url: Type.String(),
    branch: Type.String(),
    author: nullable(Type.String()),
    state: PullRequestState,
    review: nullable(ReviewState),
    checks: nullable(ChecksState),
    fork: Type.Boolean(),
    issues: Type.Array(Type.Object({ id: id('iss'), closes: Type.Boolean() }, closed)),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'PullRequest' },
)
export type PullRequest = Static<typeof PullRequest>

export const GitBranch = Type.Object(
  {
    connection_id: id('gcn'),
    repository: Type.String(),
    name: Type.String(),
    url: Type.String(),
    pushed_at: Timestamp,
  },
  { ...closed, title: 'GitBranch' },
)
export type GitBranch = Static<typeof GitBranch>

export const PullRequestFilter = Type.Object(
  {
    ...paging,
    issue_id: Type.Optional(Ref),
    session_id: Type.Optional(Ref),
    state: Type.Optional(PullRequestState),
  },
  closed,
)
export type PullRequestFilter = Static<typeof PullRequestFilter>

const PullRequestList = Type.Object(
  {
    ...list(PullRequest).properties,
    /** With `issue_id`: pushed branches without a pull request. */
    branches: Type.Array(GitBranch),
  },
  { ...closed, title: 'PullRequestList' },
)

const Rule = nullable(Type.Enum(issueStatuses, { 'x-message': `must be null or one of: ${issueStatuses.join(', ')}` }))
export const gitEvents = ['branch', 'opened', 'review_requested', 'approved', 'merged', 'closed'] as const
export type GitEvent = (typeof gitEvents)[number]
const rules = { branch: Rule, opened: Rule, review_requested: Rule, approved: Rule, merged: Rule, closed: Rule }
export const GitAutomation = Type.Object(
  Object.fromEntries(gitEvents.map((event) => [event, nullable(IssueStatus)])) as typeof rules,
  { ...closed, title: 'GitAutomation' },
)
export type GitAutomation = Static<typeof GitAutomation>
export const GitAutomationChange = Type.Partial(Type.Object(rules), closed)
export type GitAutomationChange = Static<typeof GitAutomationChange>

export const git = {
  listGitConnections: operation(routes.listGitConnections, {
    summary: 'List git connections of the workspace, newest first',
    query: Page,
    returns: { 200: list(GitConnection) },
  }),
  createGitConnection: operation(routes.createGitConnection, {
    summary: 'Create a git connection; the response contains its secret',
    body: NewGitConnection,
    returns: { 201: CreatedConnection },
  }),
  getGitConnection: operation(routes.getGitConnection, {
    summary: 'Get a git connection',
    returns: { 200: GitConnection },
  }),
  updateGitConnection: operation(routes.updateGitConnection, {
    summary: 'Change the given fields of a git connection',
    body: GitConnectionChange,
    returns: { 200: GitConnection },
  }),
  deleteGitConnection: operation(routes.deleteGitConnection, {
    summary: 'Delete a git connection with its pull requests and branches',
    returns: { 204: null },
  }),
  rotateGitSecret: operation(routes.rotateGitSecret, {
    summary: 'Replace the secret of a git connection; the old one stops working at once',
    returns: { 200: GitSecret },
  }),
  listGitDeliveries: operation(routes.listGitDeliveries, {
    summary: 'List the last 200 verified requests of the git host, newest first',
    query: Page,
    returns: { 200: list(GitDelivery) },
  }),
  receiveGitHook: operation(routes.receiveGitHook, {
    summary: 'The webhook address of a git connection, for GitHub, GitLab, Gitea and Forgejo',
    body: Type.Unknown(),
    bodyFormat: 'bytes',
    bodyBytes: programLimits.gitHookBytes,
    bodyCheckedByVerb: true,
    anyQuery: true,
    returns: { 202: Type.Object({ outcome: GitOutcome }, { ...closed, title: 'GitHookOutcome' }) },
    errors: ['UNAUTHORIZED', 'RATE_LIMIT_EXCEEDED', 'WORKSPACE_PENDING_DELETION'],
  }),
  listPullRequests: operation(routes.listPullRequests, {
    summary: 'List pull requests, newest first; of an issue also its branches',
    query: PullRequestFilter,
    returns: { 200: PullRequestList },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  linkPullRequest: operation(routes.linkPullRequest, {
    summary: 'Link a pull request to an issue; unless closes is false, its merge can close the issue',
    body: Type.Object({ closes: Type.Optional(Type.Boolean()) }, closed),
    bodyOptional: true,
    returns: { 200: PullRequest },
  }),
  unlinkPullRequest: operation(routes.unlinkPullRequest, {
    summary: 'Unlink a pull request from an issue; its texts do not link it again',
    returns: { 204: null },
  }),
  getGitAutomation: operation(routes.getGitAutomation, {
    summary: 'Get the statuses that pull requests and branches set on issues of a team',
    returns: { 200: GitAutomation },
  }),
  setGitAutomation: operation(routes.setGitAutomation, {
    summary: 'Change the given statuses; null disables one',
    body: GitAutomationChange,
    returns: { 200: GitAutomation },
  }),
}
