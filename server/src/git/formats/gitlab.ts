import type { ChecksState, PullRequestState } from '@baton/protocol'
import {
  branchOf,
  complete,
  encodedPath,
  isNoCommit,
  type Json,
  lengths,
  type ReadEvent,
  type Reading,
  type ReviewChange,
  type ReviewVerdict,
} from '../reading.ts'

/** Events of GitLab. The body names its own kind, which has to be that of the header. */
export const readGitlab: ReadEvent = (event, body) => {
  const kind = body.at('object_kind').value
  if (event === 'Merge Request Hook') return kind === 'merge_request' ? mergeRequestOf(body) : null
  if (event === 'Push Hook') return kind === 'push' ? pushOf(body) : null
  if (event === 'Pipeline Hook') return kind === 'pipeline' ? pipelineOf(body) : null
  return null
}

const repositoryOf = (body: Json) => body.at('project', 'path_with_namespace').line(lengths.repository)

function mergeRequestOf(body: Json): Reading | null {
  const request = body.at('object_attributes')
  const read = complete({
    repository: repositoryOf(body),
    number: request.at('iid').number,
    title: request.at('title').line(lengths.title),
    url: request.at('url').url(),
    branch: request.at('source_branch').line(lengths.branch),
    headCommit: request.at('last_commit', 'id').line(lengths.commit),
    updatedAt: request.at('updated_at').time(),
    state: request.at('state').line(20),
  })
  if (!read) return null
  // `user` is the one who acted: the author only when it is opened.
  const isNew = request.at('action').value === 'open'
  const waiting = body.at('reviewers').items.filter((reviewer) => verdictOf(reviewer) === null)
  return {
    type: 'pull_request',
    ...read,
    private: body.at('project', 'visibility_level').value === 0,
    body: request.at('description').text(lengths.body),
    author: isNew ? body.at('user', 'username').line(lengths.author) : null,
    state: stateOf(read.state, request.at('draft').flag || request.at('work_in_progress').flag),
    fork: request.at('source_project_id').value !== request.at('target_project_id').value,
    reviewRequested: waiting.length > 0,
    reviews: reviewsOf(body),
  }
}

const stateOf = (state: string, draft: boolean): PullRequestState =>
  state === 'merged' || state === 'closed' ? state : draft ? 'draft' : 'open'

function verdictOf(reviewer: Json): ReviewVerdict | null {
  const state = reviewer.at('state').value
  if (state === 'requested_changes') return 'changes_requested'
  return state === 'approved' ? 'approved' : null
}

/**
 * Reviewers have their state; others can approve too. `approved` means that all required approvals are there, while
 * `approval` is one of several. A push that resets approvals arrives as `unapproved` by the system.
 */
function reviewsOf(body: Json): ReviewChange {
  const set: Record<string, ReviewVerdict | null> = {}
  for (const reviewer of body.at('reviewers').items) {
    const name = reviewer.at('username').line(lengths.author)
    if (name && reviewer.at('state').exists) set[name] = verdictOf(reviewer)
  }
  const action = body.at('object_attributes', 'action').value
  const actor = body.at('user', 'username').line(lengths.author)
  if (actor && action === 'approved') set[actor] = 'approved'
  if (actor && (action === 'unapproved' || action === 'unapproval')) set[actor] = null
  return { set, clearApprovals: action === 'unapproved' && body.at('object_attributes', 'system').flag }
}

function pushOf(body: Json): Reading | null {
  const read = complete({
    repository: repositoryOf(body),
    branch: branchOf(body.at('ref').line(lengths.branch + 'refs/heads/'.length)),
    page: body.at('project', 'web_url').url(),
    after: body.at('after').line(lengths.commit),
  })
  if (!read) return null
  const { repository, branch, page, after } = read
  const url = `${page}/-/tree/${encodedPath(branch)}`
  return { type: 'branch', repository, branch, deleted: isNoCommit(after), url, pushedAt: null }
}

const checksOf: ReadonlyMap<string, ChecksState> = new Map([
  ['success', 'passed'],
  ['skipped', 'passed'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])

/** The newest pipeline of a commit counts, so all have the same name. */
function pipelineOf(body: Json): Reading | null {
  const pipeline = body.at('object_attributes')
  const read = complete({
    repository: repositoryOf(body),
    commit: pipeline.at('sha').line(lengths.commit),
    run: pipeline.at('id').number,
    at: pipeline.at('finished_at').time() ?? pipeline.at('created_at').time(),
    status: pipeline.at('status').line(50),
  })
  if (!read) return null
  const { status, ...fields } = read
  return { type: 'check', ...fields, name: 'pipeline', state: checksOf.get(status) ?? 'pending' }
}
