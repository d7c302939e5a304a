import { branchOf, complete, encodedPath, type Json, lengths, type ReadEvent, type Reading } from '../reading.ts'
import { pullRequestOf, repositoryOf, reviewRequestOf, statusOf } from './github.ts'

/** The type of review in the body, by event: the header that names the event is not signed. */
const reviewTypes: Readonly<Record<string, string>> = {
  pull_request_approved: 'pull_request_review_approved',
  pull_request_rejected: 'pull_request_review_rejected',
  pull_request_comment: 'pull_request_review_comment',
}

/** Events of Gitea and Forgejo. */
export const readGitea: ReadEvent = (event, body) => {
  switch (event) {
    case 'pull_request':
      return body.at('review').exists || body.at('number').number !== body.at('pull_request', 'number').number
        ? null
        : pullRequestOf(body, reviewRequestOf(body))
    case 'pull_request_approved':
    case 'pull_request_rejected':
    case 'pull_request_comment':
      return body.at('review', 'type').value === reviewTypes[event] ? reviewed(body, event) : null
    case 'push':
      return pushOf(body)
    case 'delete':
      return deletionOf(body)
    case 'status':
      return statusOf(body)
    default:
      return null
  }
}

function reviewed(body: Json, event: string): Reading | null {
  const reviewer = body.at('sender', 'login').line(lengths.author)
  if (!reviewer || event === 'pull_request_comment') return pullRequestOf(body, { set: {} })
  return pullRequestOf(body, {
    set: { [reviewer]: event === 'pull_request_approved' ? 'approved' : 'changes_requested' },
  })
}

const pageOf = (body: Json) => body.at('repository', 'html_url').url()

function pushOf(body: Json): Reading | null {
  const read = complete({
    repository: repositoryOf(body),
    branch: branchOf(body.at('ref').line(lengths.branch + 'refs/heads/'.length)),
    page: pageOf(body),
    after: body.at('after').line(lengths.commit),
  })
  return read && branchReading(read, /^0+$/.test(read.after))
}

/** A deletion names the branch alone; `create`, which has the same fields otherwise, has a `sha`. */
function deletionOf(body: Json): Reading | null {
  if (body.at('ref_type').value !== 'branch' || body.at('sha').exists || !body.at('pusher_type').exists) return null
  const ref = body.at('ref').line(lengths.branch + 'refs/heads/'.length)
  const read = complete({ repository: repositoryOf(body), branch: branchOf(ref) ?? ref, page: pageOf(body) })
  return read && branchReading(read, true)
}

const branchReading = (
  { repository, branch, page }: { repository: string; branch: string; page: string },
  deleted: boolean,
): Reading => ({
  type: 'branch',
  repository,
  branch,
  deleted,
  url: `${page}/src/branch/${encodedPath(branch)}`,
  pushedAt: null,
})
