import type { RunnerContext } from './context.ts'
import { pullRequestUrl } from './options.ts'
import type { Outbox } from './outbox.ts'
import { openPullRequest } from './pull-request.ts'
import type { SessionRecord } from './state.ts'
import type { Workspace } from './workspace.ts'

type Git = NonNullable<Workspace['git']>

/** Commits what is uncommitted, and pushes with --push. Returns what the response has to say about it. */
export async function saveWork(
  context: RunnerContext,
  record: SessionRecord,
  git: Git,
  outbox: Outbox,
): Promise<string[]> {
  const notes: string[] = []
  if (context.settings.commit) {
    const author = { name: context.app.name, email: `${context.app.userId}@users.noreply.invalid` }
    const message = `${titleOf(record)}\n\nBaton-Session: ${record.id}\n`
    await git.worktree.commitAll(message, author).catch((error: Error) => {
      notes.push(`The changes could not be committed: ${error.message}`)
    })
  }
  const remote = git.settings.push
  const head = await git.worktree.head()
  if (remote === undefined || !head || head === record.base?.commit || head === record.pushed) return notes
  const branch = record.branch ?? ''
  const refused = await git.worktree.push(remote, branch)
  if (refused) return [...notes, `The push to ${remote} was refused: ${refused}`]
  record.pushed = head
  const link = record.linked ? null : await pullRequest(context, record, git)
  if (link) {
    outbox.link('Pull request', link)
    record.linked = true
  }
  return notes
}

const identifierOf = ({ identifier }: SessionRecord) =>
  identifier === 'project' ? 'Project' : identifier.toUpperCase()

const titleOf = (record: SessionRecord) => `${identifierOf(record)}: ${record.title}`.replace(/\s+/g, ' ').trim()

/** The link of --pr-url, or of the draft that --pr opens. */
async function pullRequest({ settings, env }: RunnerContext, record: SessionRecord, { worktree }: Git) {
  const branch = record.branch ?? ''
  const base = (record.base?.ref ?? 'main').replace(/^origin\//, '')
  if (settings.prUrl !== undefined)
    return pullRequestUrl(settings.prUrl, { base, branch, identifier: identifierOf(record) })
  if (!settings.pr) return null
  return openPullRequest({ directory: worktree.path, branch, base, title: titleOf(record), env })
}
