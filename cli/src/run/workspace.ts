import { realpath } from 'node:fs/promises'
import { Child } from './child.ts'
import type { RunnerContext } from './context.ts'
import { type GitError, Repository, Worktree } from './git.ts'
import type { RepositorySettings } from './options.ts'
import { programLog } from './redact.ts'
import type { SessionRecord, State } from './state.ts'
import { eachLine } from './text.ts'

/** Where a session works. */
export interface Workspace {
  directory: string
  /** The directory by all its names. */
  names: string[]
  /** Null with --no-git. */
  git: { repository: Repository; worktree: Worktree; settings: RepositorySettings } | null
}

/** The workspace could not be prepared; `message` is for people. */
export class WorkspaceFailure extends Error {
  readonly reason: 'worktree_failed' | 'setup_failed'
  constructor(reason: WorkspaceFailure['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const setupMs = 600_000

/** Creates the session's worktree, or finds or restores the earlier one. Updates and saves the record. */
export async function prepareWorkspace(
  context: RunnerContext,
  record: SessionRecord,
  settings: RepositorySettings,
  signal: AbortSignal,
): Promise<Workspace> {
  const { state } = context
  record.repository = settings.path
  if (context.settings.noGit) {
    await state.saveSession(record)
    return { directory: settings.path, names: await namesOf(settings.path), git: null }
  }
  const { repository, worktree } = await openWorktree(context, record, settings).catch((error: GitError) => {
    throw new WorkspaceFailure('worktree_failed', `The worktree could not be created: ${error.message}`)
  })
  if (!record.setUp) await setUp(context, record, worktree, settings, signal)
  return { directory: worktree.path, names: await namesOf(worktree.path), git: { repository, worktree, settings } }
}

async function openWorktree(context: RunnerContext, record: SessionRecord, settings: RepositorySettings) {
  const { state } = context
  const repository = await Repository.open(settings.path)
  const path = state.worktree(record.id)
  if (record.gitDir && record.worktree) {
    const known = new Worktree(record.worktree, record.gitDir)
    if (await known.exists()) return { repository, worktree: known }
    // Its branch is there, so a directory without git's knowledge of it has nothing more to offer.
    record.setUp = false
  }
  if (!record.base) {
    if (context.settings.fetch) await repository.fetch()
    record.base = await repository.base(settings.base)
  }
  record.branch ??= `baton/${record.identifier}-${record.id.slice(-6)}`.toLowerCase()
  await removeUnused(state, repository, path)
  const worktree = await repository.addWorktree(path, record.branch, record.base.commit)
  Object.assign(record, { worktree: path, gitDir: worktree.gitDir })
  await state.saveSession(record)
  return { repository, worktree }
}

/** Removes a worktree that a killed runner made and did not write down. No agent has worked there. */
async function removeUnused(state: State, repository: Repository, path: string) {
  const isUsed = (await state.sessions()).some(({ worktree }) => worktree === path)
  if (!isUsed && (await repository.hasWorktree(path))) await repository.removeWorktree(path, true)
}

async function setUp(
  context: RunnerContext,
  record: SessionRecord,
  worktree: Worktree,
  { setup }: RepositorySettings,
  signal: AbortSignal,
) {
  if (context.settings.submodules) {
    await worktree.initSubmodules().catch((error: GitError) => {
      throw new WorkspaceFailure('worktree_failed', `The submodules could not be initialised: ${error.message}`)
    })
  }
  if (setup !== undefined) {
    const problem = await runSetup(context, setup, worktree.path, signal)
    if (problem)
      throw new WorkspaceFailure('setup_failed', `The setup command ${problem}. Write a message to try again.`)
  }
  record.setUp = true
  await context.state.saveSession(record)
}

/** Runs the command of --setup, which the user of the runner wrote, in a shell. Returns what went wrong. */
async function runSetup(
  context: RunnerContext,
  command: string,
  cwd: string,
  signal: AbortSignal,
): Promise<string | null> {
  const { clock, env, redactor, processNoted } = context
  const log = programLog(redactor, (line) => context.log(`setup | ${line}`))
  const child = new Child({ command: [command], shell: true, cwd, env, log, noted: processNoted, ended: () => {} })
  child.process.stdin?.end()
  if (child.process.stdout) eachLine(child.process.stdout, log)
  let problem: string | null = null
  const stop = (why: string) => {
    problem ??= why
    void child.kill()
  }
  const cancel = clock.after(setupMs, () => stop('took over 10 minutes'))
  const aborted = () => stop('was stopped')
  signal.addEventListener('abort', aborted, { once: true })
  if (signal.aborted) aborted()
  try {
    const { code, words } = await child.exited
    // What it left running on purpose, such as a database, belongs to the user.
    child.isGone = true
    return problem ?? (code === 0 ? null : words)
  } finally {
    cancel()
    signal.removeEventListener('abort', aborted)
  }
}

const namesOf = async (directory: string) => [...new Set([directory, await realpath(directory).catch(() => directory)])]
