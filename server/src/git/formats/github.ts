import type { ChecksState } from '@baton/protocol'
import {
  branchOf,
  type CheckReading,
  complete,
  encodedPath,
  type Json,
  lengths,
  type PullRequestReading,
  type ReadEvent,
  type Reading,
  type ReviewChange,
} from '../reading.ts'

/** Events of GitHub. Each checks what only its own body has, because the header that names the event is not signed. */
export const readGithub: ReadEvent = (event, body) => {
  switch (event) {
    case 'pull_request':
      return body.at('review').exists || body.at('number').number !== body.at('pull_request', 'number').number
        ? null
        : pullRequestOf(body, reviewRequestOf(body))
    case 'pull_request_review':
      return body.at('review').isObject ? pullRequestOf(body, reviewOf(body)) : null
    case 'push':
      return pushOf(body)
    case 'check_run':
      return body.at('check_run').isObject ? checkRunOf(body) : null
    case 'check_suite':
      return body.at('check_suite').isObject ? checkSuiteOf(body) : null
    case 'status':
      return statusOf(body)
    default:
      return null
  }
}

export const repositoryOf = (body: Json) => body.at('repository', 'full_name').line(lengths.repository)

/** Gitea and Forgejo have the same pull request. */
export function pullRequestOf(body: Json, reviews: ReviewChange): PullRequestReading | null {
  const pr = body.at('pull_request')
  const [head, base] = [pr.at('head'), pr.at('base')]
  const read = complete({
    action: body.at('action').line(100),
    repository: repositoryOf(body),
    number: pr.at('number').number,
    title: pr.at('title').line(lengths.title),
    url: pr.at('html_url').url(),
    branch: branchOfHead(head),
    headCommit: head.at('sha').line(lengths.commit),
    updatedAt: pr.at('updated_at').time(),
    state: pr.at('state').line(20),
  })
  if (!read || (read.state !== 'open' && read.state !== 'closed')) return null
  const { action: _, state, ...fields } = read
  const asked = [...pr.at('requested_reviewers').items, ...pr.at('requested_teams').items]
  return {
    type: 'pull_request',
    ...fields,
    private: isPrivate(body.at('repository')),
    body: pr.at('body').text(lengths.body),
    author: pr.at('user', 'login').line(lengths.author),
    state: isMerged(pr) ? 'merged' : state === 'closed' ? 'closed' : isDraft(pr) ? 'draft' : 'open',
    fork: isFork(head, base),
    reviewRequested: asked.length > 0,
    reviews,
  }
}

/** An internal repository is `private` too, but the whole enterprise or instance can read it. */
const isPrivate = (repository: Json) =>
  repository.at('private').flag && !repository.at('internal').flag && repository.at('visibility').value !== 'internal'

/** Gitea and Forgejo name the branch only in the label once it is deleted. */
function branchOfHead(head: Json) {
  const ref = head.at('ref').line(lengths.branch)
  return (ref?.startsWith(pullRefs) && head.at('label').line(lengths.branch)) || ref
}
const pullRefs = 'refs/pull/'

/**
 * Whether the author may have no right to push to the repository. A deleted fork is null. Gitea and Forgejo accept pull
 * requests without a branch from everyone who can read the repository, and report them as from the repository itself.
 */
const isFork = (head: Json, base: Json) =>
  head.at('repo', 'full_name').line(lengths.repository) !== base.at('repo', 'full_name').line(lengths.repository) ||
  branchOfHead(head)?.startsWith(pullRefs) === true

/** The pull request of a review event has no `merged`. */
const isMerged = (pr: Json) => pr.at('merged').flag || pr.at('merged_at').exists

/** Gitea before 1.20 marks drafts only in the title. */
const isDraft = (pr: Json) =>
  pr.at('draft').value === undefined ? /^(?:\[?wip\]?|draft)\b/i.test(pr.at('title').text(20)) : pr.at('draft').flag

/** A reviewer who is asked again has no verdict any more. */
export function reviewRequestOf(body: Json): ReviewChange {
  const reviewer = body.at('requested_reviewer', 'login').line(lengths.author)
  return { set: body.at('action').value === 'review_requested' && reviewer ? { [reviewer]: null } : {} }
}

/** Reviews of people without a role in the repository do not count: anyone can approve in a public one. */
const counted = ['OWNER', 'MEMBER', 'COLLABORATOR']

function reviewOf(body: Json): ReviewChange {
  const review = body.at('review')
  const reviewer = review.at('user', 'login').line(lengths.author)
  const association = review.at('author_association')
  if (!reviewer || (association.exists && !counted.includes(association.text(30)))) return { set: {} }
  // Upper case in the REST API, lower case in webhooks.
  const state = review.at('state').text(30).toLowerCase()
  if (body.at('action').value === 'dismissed' || state === 'dismissed') return { set: { [reviewer]: null } }
  return { set: state === 'approved' || state === 'changes_requested' ? { [reviewer]: state } : {} }
}

/** `deleted` is only in pushes; a deleted branch has the commit 000…. */
function pushOf(body: Json): Reading | null {
  const read = complete({
    repository: repositoryOf(body),
    branch: branchOf(body.at('ref').line(lengths.branch + 'refs/heads/'.length)),
    page: body.at('repository', 'html_url').url(),
    before: body.at('before').line(lengths.commit),
    after: body.at('after').line(lengths.commit),
  })
  if (!read || typeof body.at('deleted').value !== 'boolean') return null
  const { repository, branch, page } = read
  return {
    type: 'branch',
    repository,
    branch,
    deleted: body.at('deleted').flag,
    url: `${page}/tree/${encodedPath(branch)}`,
    pushedAt: body.at('repository', 'pushed_at').time(),
  }
}

function checkRunOf(body: Json): CheckReading | null {
  const run = body.at('check_run')
  const read = complete({
    repository: repositoryOf(body),
    commit: run.at('head_sha').line(lengths.commit),
    name: run.at('name').line(lengths.name),
    run: run.at('id').number,
    at: run.at('completed_at').time() ?? run.at('started_at').time(),
  })
  const app = run.at('app', 'slug').line(100) ?? ''
  return read && { type: 'check', ...read, name: `run ${app}/${read.name}`, state: conclusionOf(run) }
}

function checkSuiteOf(body: Json): CheckReading | null {
  const suite = body.at('check_suite')
  const read = complete({
    repository: repositoryOf(body),
    commit: suite.at('head_sha').line(lengths.commit),
    run: suite.at('id').number,
    at: suite.at('updated_at').time(),
  })
  return read && { type: 'check', ...read, name: `suite ${read.run}`, state: conclusionOf(suite) }
}

/** `neutral` and `skipped` do not prevent a merge. */
function conclusionOf(check: Json): ChecksState {
  const conclusion = check.at('conclusion').line(50)
  if (check.at('status').value !== 'completed' || conclusion === null) return 'pending'
  return ['success', 'neutral', 'skipped'].includes(conclusion) ? 'passed' : 'failed'
}

/** Gitea and Forgejo have the same event. */
export function statusOf(body: Json): CheckReading | null {
  const read = complete({
    repository: repositoryOf(body),
    commit: body.at('sha').line(lengths.commit),
    name: body.at('context').line(lengths.name),
    run: body.at('id').number,
    at: body.at('updated_at').time() ?? body.at('created_at').time(),
    state: body.at('state').line(20),
  })
  if (!read) return null
  const passed = ['success', 'warning', 'skipped'].includes(read.state)
  const state = passed ? 'passed' : read.state === 'pending' ? 'pending' : 'failed'
  return { type: 'check', ...read, name: `status ${read.name}`, state }
}
