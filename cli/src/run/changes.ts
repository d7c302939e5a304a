import { type Base, diffAgainst, git, isPlainRef, type Worktree } from './git.ts'
import type { Redactor } from './redact.ts'

type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'type_changed'
type Omitted = 'binary' | 'too_large' | 'encoding' | 'redacted' | 'submodule'

export interface ChangedFile {
  path: string
  old_path: string | null
  status: FileStatus
  additions: number | null
  deletions: number | null
  patch: string | null
  omitted: Omitted | null
}

export interface Changes {
  repository: string
  remote_url: string | null
  base: Base
  head_commit: string | null
  branch: string | null
  pushed: boolean
  files_total: number
  additions: number
  deletions: number
  files: ChangedFile[]
}

const mostFiles = 300
const patchBytes = 64 * 1024
const allPatchesBytes = 512 * 1024
/** Below the service's limit of 1 MB for a body. */
const bodyBytes = 1024 * 1024 - 4096
const longestPath = 1024

export interface CompareOptions {
  worktree: Worktree
  base: Base
  /** A file for an index of its own. */
  index: string
  about: { repository: string; remote_url: string | null; pushed: boolean }
  redactor: Pick<Redactor, 'all' | 'finds'>
}

/** Compares the worktree with the base: committed, uncommitted and untracked files, not ignored ones. */
export async function compare({ worktree, base, index, about, redactor }: CompareOptions): Promise<Changes> {
  const [head, branch] = await Promise.all([worktree.head(), worktree.branch()])
  const files = await worktree.withOwnIndex(index, async (at) => {
    const raw = await git(diffAgainst(base.commit, ['--raw', '-z', '--abbrev=40']), at)
    const counts = await git(diffAgainst(base.commit, ['--numstat', '-z']), at)
    const files = withCounts(parseRaw(raw.stdout), counts.stdout)
    const patches = new PatchSplitter(files.slice(0, 10 * mostFiles))
    await git(diffAgainst(base.commit, ['--patch', '--full-index']), {
      ...at,
      onOutput: (chunk) => patches.push(chunk),
    })
    // A secret of several lines has a sign before each.
    patches.end((text) => redactor.finds(text) || redactor.finds(text.replace(/^[ +-]/gm, '')))
    return files
  })
  const sum = (count: 'additions' | 'deletions') => files.reduce((total, file) => total + (file[count] ?? 0), 0)
  return fitted({
    ...about,
    base,
    head_commit: head,
    branch: branch && isPlainRef(branch) && !redactor.finds(branch) ? branch : null,
    files_total: files.length,
    additions: sum('additions'),
    deletions: sum('deletions'),
    files: uniquePaths(files.map((file) => withoutSecrets(file, redactor.all))).slice(0, mostFiles),
  })
}

interface FoundFile extends ChangedFile {
  isUtf8: boolean
}

/** Output of `diff --raw -z`: `:oldmode newmode old new status NUL path NUL [path NUL]`. */
function parseRaw(bytes: Buffer): FoundFile[] {
  const parts = splitAtNul(bytes)
  const files: FoundFile[] = []
  for (let n = 0; n + 1 < parts.length; ) {
    const [oldMode = '', newMode = '', , , letter = ''] = (parts[n++]?.toString() ?? '').slice(1).split(' ')
    const first = parts[n++] as Buffer
    const second = /^[RC]/.test(letter) ? (parts[n++] as Buffer) : null
    const path = second ?? first
    const isSubmodule = oldMode === '160000' || newMode === '160000'
    files.push({
      path: path.toString(),
      old_path: second && letter.startsWith('R') ? first.toString() : null,
      status: statusOf(letter),
      additions: null,
      deletions: null,
      patch: null,
      omitted: isSubmodule ? 'submodule' : null,
      isUtf8: [first, path].every((one) => Buffer.from(one.toString()).equals(one)),
    })
  }
  return files
}

function statusOf(letter: string): FileStatus {
  if (letter.startsWith('A') || letter.startsWith('C')) return 'added'
  if (letter.startsWith('D')) return 'deleted'
  if (letter.startsWith('R')) return 'renamed'
  return letter.startsWith('T') ? 'type_changed' : 'modified'
}

/** Output of `diff --numstat -z`, in the same order: `added TAB deleted TAB path NUL`; a rename has two paths after it. */
function withCounts(files: FoundFile[], bytes: Buffer): FoundFile[] {
  const parts = splitAtNul(bytes)
  let n = 0
  for (const file of files) {
    const [added = '-', deleted = '-', path = ''] = (parts[n++]?.toString() ?? '').split('\t')
    if (path === '') n += 2
    if (added === '-') file.omitted ??= 'binary'
    else {
      file.additions = Number(added)
      file.deletions = Number(deleted)
    }
  }
  return files
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start)
    parts.push(bytes.subarray(start, end < 0 ? bytes.length : end))
    start = end < 0 ? bytes.length : end + 1
  }
  return parts
}

const header = Buffer.from('diff --git ')

/**
 * Gives each file its part of one patch. A line of content never begins with the header, because each has a prefix.
 * No more than a patch of the longest permitted size is kept of each, however large the output is.
 */
class PatchSplitter {
  readonly #files: FoundFile[]
  readonly #texts: { bytes: number; chunks: Buffer[] }[] = []
  #line = Buffer.alloc(0)
  #continues = false

  constructor(files: FoundFile[]) {
    this.#files = files
  }

  push(chunk: Buffer) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end + 1))
      this.#continues = false
      start = end + 1
    }
    if (start < chunk.length) {
      this.#add(chunk.subarray(start))
      this.#continues = true
    }
  }

  /** A part of a line. Its beginning is kept until it is long enough to be recognised. */
  #add(part: Buffer) {
    if (this.#continues && this.#line.length === 0) return this.#append(part)
    const line = Buffer.concat([this.#line, part])
    const isWhole = line[line.length - 1] === 10
    if (!isWhole && line.length < header.length) {
      this.#line = line
      return
    }
    this.#line = Buffer.alloc(0)
    if (line.subarray(0, header.length).equals(header)) this.#texts.push({ bytes: 0, chunks: [] })
    this.#append(line)
  }

  #append(bytes: Buffer) {
    const text = this.#texts.at(-1)
    if (!text) return
    text.bytes += bytes.length
    if (text.bytes <= patchBytes) text.chunks.push(Buffer.from(bytes))
    else text.chunks.length = 0
  }

  end(hasSecret: (text: string) => boolean) {
    let n = 0
    for (const file of this.#files) {
      // A change of type is printed as a deletion and an addition.
      const parts = this.#texts.slice(n, n + (file.status === 'type_changed' ? 2 : 1))
      n += parts.length
      if (file.omitted) continue
      const size = parts.reduce((sum, { bytes }) => sum + bytes, 0)
      if (parts.length === 0 || size > patchBytes) file.omitted = 'too_large'
      else Object.assign(file, textOf(Buffer.concat(parts.flatMap(({ chunks }) => chunks)), hasSecret))
    }
    for (const file of this.#files)
      if (!file.isUtf8 && !file.omitted) Object.assign(file, { patch: null, omitted: 'encoding' })
  }
}

function textOf(bytes: Buffer, hasSecret: (text: string) => boolean): Pick<ChangedFile, 'patch' | 'omitted'> {
  const text = bytes.toString()
  if (!Buffer.from(text).equals(bytes)) return { patch: null, omitted: 'encoding' }
  return hasSecret(text) ? { patch: null, omitted: 'redacted' } : { patch: text, omitted: null }
}

/** The name of a file can contain a secret too; its patch, which has the name, is then omitted already. */
const withoutSecrets = (file: FoundFile, clean: (text: string) => string): FoundFile => ({
  ...file,
  path: clean(file.path),
  old_path: file.old_path === null ? null : clean(file.old_path),
})

/** The service takes no path that would leave the repository, also by the rules of Windows, where names can have `\\`. */
const isTaken = (path: string) =>
  path.length <= longestPath && !/^([/\\]|[A-Za-z]:[/\\])/.test(path) && !path.split(/[/\\]/).includes('..')

/** The service takes each path once; only paths that are no UTF-8, or without their secrets, can become equal. */
function uniquePaths(files: FoundFile[]): ChangedFile[] {
  const seen = new Set<string>()
  return files.flatMap(({ isUtf8: _, ...file }) => {
    if (seen.has(file.path) || ![file.path, file.old_path ?? ''].every(isTaken)) return []
    seen.add(file.path)
    return [file]
  })
}

/** Omits the largest patches until the rest fits. */
function fitted(changes: Changes): Changes {
  const sizes = changes.files.map(({ patch }) => (patch === null ? 0 : Buffer.byteLength(patch)))
  const escapedSizes = changes.files.map(({ patch }) => (patch === null ? 0 : Buffer.byteLength(JSON.stringify(patch))))
  const total = (list: number[]) => list.reduce((sum, size) => sum + size, 0)
  const withoutPatches = {
    ...changes,
    files: changes.files.map((file) => ({ ...file, patch: null, omitted: 'too_large' })),
  }
  let bytes = total(sizes)
  let body = Buffer.byteLength(JSON.stringify(withoutPatches)) + total(escapedSizes)
  const largestFirst = changes.files.map((_, n) => n).sort((a, b) => (escapedSizes[b] ?? 0) - (escapedSizes[a] ?? 0))
  for (const n of largestFirst) {
    if (bytes <= allPatchesBytes && body <= bodyBytes) break
    const file = changes.files[n]
    if (!file || file.patch === null) break
    Object.assign(file, { patch: null, omitted: 'too_large' })
    bytes -= sizes[n] ?? 0
    body -= escapedSizes[n] ?? 0
  }
  return changes
}

/** `4 files +31 -7`. */
export const summary = ({
  files_total,
  additions,
  deletions,
}: Pick<Changes, 'files_total' | 'additions' | 'deletions'>) =>
  files_total === 0
    ? 'No files changed.'
    : `${files_total} ${files_total === 1 ? 'file' : 'files'} +${additions} -${deletions}`
