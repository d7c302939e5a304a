import { sep } from 'node:path'
import { type BatonClient, type Clock, isBatonError } from '@baton/sdk'
import { Repository, Worktree } from './git.ts'
import type { SessionRecord, State } from './state.ts'

interface CleanOptions {
  state: State
  /** Null if the service cannot be asked; then only what the runner knows to have ended counts. */
  client: BatonClient | null
  clock: Clock
  olderMs: number
  force: boolean
  dryRun: boolean
}

export interface Cleaned {
  session: string
  worktree: string
  branch: string | null
  outcome: 'removed' | 'kept'
  /** Why it was kept, or what was lost by --force. */
  why: string | null
}

/** Removes worktrees of sessions that are over, below the state directory only. */
export async function clean(options: CleanOptions): Promise<Cleaned[]> {
  const results: Cleaned[] = []
  for (const record of await options.state.sessions()) {
    if (!record.worktree || !record.gitDir || !record.repository) continue
    if (!record.worktree.startsWith(options.state.at('worktrees') + sep)) continue
    if (!(await isOver(record, options))) continue
    const result = await cleanOne(record as WithWorktree, options)
    if (result) results.push(result)
  }
  return results
}

type WithWorktree = SessionRecord & Required<Pick<SessionRecord, 'worktree' | 'gitDir' | 'repository'>>

/** Ended, completed or failed so long ago. */
async function isOver({ id, endedAt, turnEndedAt }: SessionRecord, { client, clock, olderMs }: CleanOptions) {
  const isOld = (time: string | null | undefined) => time != null && clock.now().getTime() - Date.parse(time) >= olderMs
  if (endedAt) return isOld(endedAt)
  if (!isOld(turnEndedAt) || !client) return false
  try {
    const { state, ended_at, updated_at } = await client.getAgentSession({ session_id: id })
    if (ended_at) return isOld(ended_at)
    return (state === 'complete' || state === 'error') && isOld(updated_at)
  } catch (error) {
    // The session is no longer there, or the app has lost access to it.
    if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return true
    throw error
  }
}

async function cleanOne(record: WithWorktree, { state, force, dryRun }: CleanOptions): Promise<Cleaned | null> {
  const about = { session: record.id, worktree: record.worktree, branch: record.branch ?? null }
  const repository = await Repository.open(record.repository)
  const worktree = new Worktree(record.worktree, record.gitDir)
  const isThere = await worktree.exists()
  const branch = record.branch && (await repository.hasBranch(record.branch)) ? record.branch : null
  if (!isThere && !branch) return null
  const reasons = [
    ...(isThere && (await worktree.isDirty()) ? ['it has uncommitted changes'] : []),
    ...(branch && !(await repository.isElsewhere(branch))
      ? ['it has commits that are on no other branch or remote']
      : []),
    ...(isThere ? await commitsElsewhere(worktree, branch) : []),
  ]
  const why = reasons.join(' and ') || null
  if (why && !force) return { ...about, outcome: 'kept', why }
  if (dryRun) return { ...about, outcome: 'removed', why }
  try {
    if (isThere) await repository.removeWorktree(record.worktree, force)
    if (branch) await repository.deleteBranch(branch, force)
  } catch (error) {
    // `git branch -d` compares with HEAD or the upstream: it can refuse what is on another branch.
    if (isThere && !(await worktree.exists()))
      return { ...about, outcome: 'removed', why: `git kept the branch: ${(error as Error).message}` }
    return { ...about, outcome: 'kept', why: `git refused: ${(error as Error).message}` }
  }
  const { worktree: _w, gitDir: _g, setUp: _s, ...left } = record
  await state.saveSession(left)
  return { ...about, outcome: 'removed', why }
}

/** The agent may have left commits on a HEAD that is not the session's branch. */
async function commitsElsewhere(worktree: Worktree, branch: string | null): Promise<string[]> {
  if ((await worktree.branch()) === branch) return []
  return (await worktree.headIsOnBranch()) ? [] : ['its HEAD has commits that are on no branch']
}
