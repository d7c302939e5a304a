import { spawn } from 'node:child_process'
import { access, copyFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { UsageError } from '../failure.ts'

/** A failed git call, with what git printed. */
export class GitError extends Error {}

export interface GitResult {
  code: number
  stdout: Buffer
  stderr: string
}

interface GitOptions {
  cwd?: string
  gitDir?: string
  workTree?: string
  input?: string
  env?: Record<string, string>
  timeoutMs?: number
  /** Receives stdout in place of the result. */
  onOutput?: (chunk: Buffer) => void
}

/**
 * Configuration of a repository, or of an agent that writes to it, must not make git run a program. External diffs and
 * textconv are switched off where `diff` is called.
 */
const hardened = [
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'core.untrackedCache=false'],
  ...['-c', 'commit.gpgSign=false', '-c', 'push.gpgSign=false', '-c', 'tag.gpgSign=false'],
  ...['-c', 'gc.auto=0', '-c', 'maintenance.auto=false', '-c', 'protocol.ext.allow=never'],
  ...['-c', 'core.quotePath=false', '-c', 'advice.detachedHead=false', '-c', 'submodule.recurse=false'],
]
const withoutPrograms = ['--no-ext-diff', '--no-textconv', '--no-color']

/** The environment without variables that would make git use another repository or another configuration. */
function environment(extra: Record<string, string> = {}): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^GIT_(?!SSH|ASKPASS|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$)/.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_EDITOR: ':',
    ...extra,
  }
}

export function git(args: string[], options: GitOptions = {}): Promise<GitResult> {
  const { cwd, gitDir, workTree, input, env, timeoutMs = 300_000, onOutput } = options
  const where = [...(gitDir ? [`--git-dir=${gitDir}`] : []), ...(workTree ? [`--work-tree=${workTree}`] : [])]
  return new Promise((resolve, reject) => {
    const child = spawn('git', [...hardened, ...where, ...args], {
      ...((cwd ?? workTree) ? { cwd: cwd ?? workTree } : {}),
      env: environment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    const chunks: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (onOutput ? onOutput(chunk) : chunks.push(chunk)))
    child.stderr.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-10_000)
    })
    child.on('error', (error) => reject(new GitError(`git could not be started: ${error.message}`)))
    child.on('close', (code) => resolve({ code: code ?? 1, stdout: Buffer.concat(chunks), stderr }))
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
  })
}

async function output(args: string[], options: GitOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await git(args, options)
  if (code !== 0) throw new GitError(lastLine(stderr) || `git ${args[0]} ended with ${code}`)
  return stdout.toString().trim()
}

const lastLine = (text: string) => text.trim().split('\n').slice(-3).join('\n')

const optional = (text: Promise<string>): Promise<string | null> =>
  text.then((found) => found || null).catch(() => null)

/** What may be copied into commands (section 9). */
export const isPlainRef = (ref: string) => /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/.test(ref)

export interface Base {
  ref: string | null
  commit: string
}

export interface Author {
  name: string
  email: string
}

/** The user's repository. Only its branches and worktrees below the runner's state are written. */
export class Repository {
  readonly directory: string
  /** The directory's own git directory, which has its HEAD. */
  readonly #gitDir: string
  readonly #commonDir: string
  readonly isBare: boolean

  private constructor(directory: string, gitDir: string, commonDir: string, isBare: boolean) {
    this.directory = directory
    this.#gitDir = gitDir
    this.#commonDir = commonDir
    this.isBare = isBare
  }

  static async open(directory: string): Promise<Repository> {
    const advice = 'Choose a repository with --repo DIR, or work in the directory itself with --no-git.'
    const cwd = directory
    const found = await optional(
      output(['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir', '--is-bare-repository'], { cwd }),
    )
    if (!found) throw new UsageError(`${directory} is not a git repository. ${advice}`)
    const [gitDir = '', commonDir = '', bare] = found.split('\n')
    if (!(await optional(output(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { gitDir })))) {
      throw new UsageError(`${directory} has no commit yet. ${advice}`)
    }
    return new Repository(directory, gitDir, commonDir, bare === 'true')
  }

  /** Whether the checkout has changes that are not committed, which a worktree does not have. */
  async isDirty(): Promise<boolean> {
    if (this.isBare) return false
    const { stdout } = await git(['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=all'], {
      cwd: this.directory,
    })
    return stdout.length > 0
  }

  fetch = () => output(['fetch', '--quiet', '--no-recurse-submodules', 'origin'], { gitDir: this.#commonDir })

  /** The commit that a new session starts from. */
  async base(given: string | undefined): Promise<Base> {
    const gitDir = this.#gitDir
    const origin = await optional(
      output(['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD'], { gitDir }),
    )
    const tries = given === undefined ? [...(origin ? [origin] : []), 'HEAD'] : [given]
    for (const ref of tries) {
      const commit = await optional(
        output(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`], { gitDir }),
      )
      if (!commit) continue
      const name =
        ref === 'HEAD' ? await optional(output(['symbolic-ref', '--quiet', '--short', 'HEAD'], { gitDir })) : ref
      return { ref: name && isPlainRef(name) ? name : null, commit }
    }
    throw new GitError(`There is no commit ${given} in ${this.directory}.`)
  }

  /** The address of `remote` for people who read the changes; null unless it is https. */
  async remoteUrl(remote = 'origin'): Promise<string | null> {
    const url = await optional(output(['config', '--get', `remote.${remote}.url`], { gitDir: this.#commonDir }))
    if (!url || !URL.canParse(url)) return null
    const { protocol, host, pathname } = new URL(url)
    const plain = `https://${host}${pathname}`
    return protocol === 'https:' && /^https:\/\/[A-Za-z0-9.:-]+\/[A-Za-z0-9._~/+-]*$/.test(plain) ? plain : null
  }

  /** A name for people: `owner/name` of the remote, else that of the directory. */
  async displayName(): Promise<string> {
    const url = await optional(output(['config', '--get', 'remote.origin.url'], { gitDir: this.#commonDir }))
    const [, path] = /[/:]([^/:]+\/[^/:]+?)(?:\.git)?\/?$/.exec(url ?? '') ?? []
    const isRemote = url !== null && (/^[\w+]+:\/\//.test(url) || /^[^/]+@[^/]+:/.test(url)) && !url.startsWith('file:')
    return (isRemote && path ? path : basename(this.directory).replace(/\.git$/, '') || 'repository').slice(0, 200)
  }

  hasBranch = async (branch: string) =>
    (await git(['show-ref', '--verify', '--quiet', `refs/heads/${branch}`], { gitDir: this.#commonDir })).code === 0

  /** Adds a worktree at `path` on `branch`, which is created at `commit` if it does not exist. */
  async addWorktree(path: string, branch: string, commit: string): Promise<Worktree> {
    const gitDir = this.#commonDir
    // Forgets worktrees whose directory is gone, such as one that is now restored.
    await git(['worktree', 'prune'], { gitDir })
    const on = (await this.hasBranch(branch)) ? [path, branch] : ['--no-track', '-b', branch, path, commit]
    await output(['worktree', 'add', '--quiet', ...on], { gitDir, env: { GIT_OPTIONAL_LOCKS: '1' } })
    const own = await output(['rev-parse', '--absolute-git-dir'], { cwd: path })
    return new Worktree(path, own)
  }

  /** Whether git knows a worktree at `path`. */
  async hasWorktree(path: string): Promise<boolean> {
    const list = await output(['worktree', 'list', '--porcelain', '-z'], { gitDir: this.#commonDir })
    return list.split('\0').includes(`worktree ${path}`)
  }

  removeWorktree = (path: string, force: boolean) =>
    output(['worktree', 'remove', ...(force ? ['--force', '--force'] : []), path], { gitDir: this.#commonDir })

  deleteBranch = (branch: string, force: boolean) =>
    output(['branch', force ? '-D' : '-d', '--', branch], { gitDir: this.#commonDir })

  /** Whether every commit of the branch is also on another branch or a remote. */
  async isElsewhere(branch: string): Promise<boolean> {
    const count = await output(
      [
        'rev-list',
        '--count',
        `refs/heads/${branch}`,
        '--not',
        `--exclude=${branch}`,
        '--branches',
        '--remotes',
        '--tags',
      ],
      { gitDir: this.#commonDir },
    )
    return count === '0'
  }
}

/** A worktree, by its directory and its git directory, which the runner noted before the agent could change it. */
export class Worktree {
  readonly path: string
  readonly gitDir: string
  constructor(path: string, gitDir: string) {
    this.path = path
    this.gitDir = gitDir
  }

  get #at(): GitOptions {
    return { gitDir: this.gitDir, workTree: this.path }
  }

  async exists(): Promise<boolean> {
    const found = await Promise.all([access(this.path), access(this.gitDir)]).catch(() => null)
    return found !== null
  }

  initSubmodules = () =>
    output(['submodule', 'update', '--init', '--recursive', '--quiet'], {
      ...this.#at,
      cwd: this.path,
      timeoutMs: 600_000,
    })

  head = () => optional(output(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], this.#at))

  /** Null if HEAD is detached. */
  branch = () => optional(output(['symbolic-ref', '--quiet', '--short', 'HEAD'], this.#at))

  /** Whether every commit of HEAD is on a branch or a remote. */
  async headIsOnBranch(): Promise<boolean> {
    const count = await optional(
      output(['rev-list', '--count', 'HEAD', '--not', '--branches', '--remotes', '--tags'], this.#at),
    )
    return count === '0'
  }

  async isDirty(): Promise<boolean> {
    const { stdout, code } = await git(
      ['status', '--porcelain', '--untracked-files=all', '--ignore-submodules=none'],
      this.#at,
    )
    return code !== 0 || stdout.length > 0
  }

  /** Commits all that is uncommitted, where HEAD is. Returns whether there was anything. */
  async commitAll(message: string, { name, email }: Author): Promise<boolean> {
    const env = {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    }
    const added = await git(['add', '--all'], this.#at)
    // A repository without commits inside the worktree cannot be added; everything else can.
    if (added.code !== 0) await git(['add', '--all', '--ignore-errors'], this.#at)
    if ((await git(['diff', '--cached', '--quiet', ...withoutPrograms], this.#at)).code === 0) return false
    await output(['commit', '--quiet', '--no-verify', '--no-gpg-sign', '--cleanup=whitespace', '-F', '-'], {
      ...this.#at,
      env,
      input: message,
    })
    return true
  }

  /** Pushes HEAD, never with force. Returns why it was refused, or null. */
  async push(remote: string, branch: string): Promise<string | null> {
    const { code, stderr } = await git(['push', '--quiet', '--no-verify', '--', remote, `HEAD:refs/heads/${branch}`], {
      ...this.#at,
      timeoutMs: 120_000,
    })
    return code === 0 ? null : lastLine(stderr) || `git push ended with ${code}`
  }

  /** Runs git with an index of its own that has everything in the worktree that is not ignored. */
  async withOwnIndex<T>(index: string, work: (at: GitOptions) => Promise<T>): Promise<T> {
    try {
      // Left by a git that was killed.
      await rm(`${index}.lock`, { force: true })
      // The worktree's index knows which files are tracked although they are ignored, and makes this fast.
      await copyFile(join(this.gitDir, 'index'), index).catch(() => rm(index, { force: true }))
      const at = { ...this.#at, env: { GIT_INDEX_FILE: index } }
      const added = await git(['add', '--all'], at)
      if (added.code !== 0) await git(['add', '--all', '--ignore-errors'], at)
      return await work(at)
    } finally {
      await rm(index, { force: true })
    }
  }
}

export const diffAgainst = (base: string, format: string[]) => [
  'diff',
  '--cached',
  ...withoutPrograms,
  '--find-renames',
  ...format,
  base,
  '--',
]
