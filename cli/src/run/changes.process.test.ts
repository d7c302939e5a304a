import { execFileSync } from 'node:child_process'
import { chmod, readFile, rename, rm, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { temporary } from '../../test/baton.ts'
import { gitIn, repository, write } from '../../test/repository.ts'
import { type ChangedFile, compare } from './changes.ts'
import { Repository, type Worktree } from './git.ts'
import { redactor } from './redact.ts'

const about = { repository: 'acme', remote_url: null, pushed: false }

/** A worktree on a branch of a repository with these files. */
async function worktreeOf(files: Record<string, string | Uint8Array>) {
  const directory = await repository(files)
  const source = await Repository.open(directory)
  const base = await source.base(undefined)
  const worktree = await source.addWorktree(join(await temporary(), 'wt'), 'baton/eng-1-abcdef', base.commit)
  const index = join(await temporary(), 'index')
  const changes = (...secrets: string[]) => compare({ worktree, base, index, about, redactor: redactor(secrets) })
  return { directory, source, base, worktree, changes }
}

const brief = ({ path, old_path, status, additions, deletions, omitted }: ChangedFile) => [
  path,
  old_path,
  status,
  additions,
  deletions,
  omitted,
]
const indexOf = (worktree: Worktree) => readFile(join(worktree.gitDir, 'index'))

test(
  'holds committed, uncommitted and untracked files, and leaves the index as it is',
  verifies('changes.whole-worktree'),
  async () => {
    const long = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('')
    const { worktree, changes } = await worktreeOf({
      'changed.txt': 'one\ntwo\n',
      'deleted.txt': 'gone\n',
      'old.txt': long,
      'script.sh': 'echo\n',
      'kind.txt': 'a file\n',
      '.gitignore': 'ignored.txt\ntracked-ignored.txt\n',
    })
    const { path } = worktree
    await write(path, { 'committed.txt': 'new\n' })
    await gitIn(path, 'add', 'committed.txt')
    await gitIn(path, 'commit', '--quiet', '--message=Mine')
    await write(path, {
      'changed.txt': 'one\n2\n3\n',
      'staged.txt': 'staged\n',
      'untracked.txt': 'a\n',
      'ignored.txt': 'secret\n',
      'picture.bin': new Uint8Array([0, 1, 2, 255]),
      'latin.txt': Buffer.from('caf\xe9\n', 'latin1'),
      'with space ü.txt': 'x\n',
    })
    await gitIn(path, 'add', 'staged.txt')
    await rm(join(path, 'deleted.txt'))
    await rename(join(path, 'old.txt'), join(path, 'new.txt'))
    await chmod(join(path, 'script.sh'), 0o755)
    await unlink(join(path, 'kind.txt'))
    await symlink('changed.txt', join(path, 'kind.txt'))
    const before = await indexOf(worktree)
    const result = await changes()
    expect(await indexOf(worktree)).toEqual(before)
    expect(result.files.map(brief)).toEqual([
      ['changed.txt', null, 'modified', 2, 1, null],
      ['committed.txt', null, 'added', 1, 0, null],
      ['deleted.txt', null, 'deleted', 0, 1, null],
      ['kind.txt', null, 'type_changed', 1, 1, null],
      ['latin.txt', null, 'added', 1, 0, 'encoding'],
      ['new.txt', 'old.txt', 'renamed', 0, 0, null],
      ['picture.bin', null, 'added', null, null, 'binary'],
      ['script.sh', null, 'modified', 0, 0, null],
      ['staged.txt', null, 'added', 1, 0, null],
      ['untracked.txt', null, 'added', 1, 0, null],
      ['with space ü.txt', null, 'added', 1, 0, null],
    ])
    expect(result).toMatchObject({ files_total: 11, additions: 8, deletions: 3, branch: 'baton/eng-1-abcdef' })
    for (const { patch, omitted } of result.files) expect((patch === null) !== (omitted === null)).toBe(true)
    const mode = result.files.find((file) => file.path === 'script.sh')
    expect(mode?.patch).toContain('old mode 100644\nnew mode 100755')
    // The patches give the same files in a checkout of the base.
    const clone = await temporary()
    await gitIn(clone, 'clone', '--quiet', path, 'copy')
    const copy = join(clone, 'copy')
    await gitIn(copy, 'checkout', '--quiet', result.base.commit)
    execFileSync('git', ['apply', '--index', '-'], {
      cwd: copy,
      input: result.files.map(({ patch }) => patch ?? '').join(''),
    })
    expect(await readFile(join(copy, 'changed.txt'), 'utf8')).toBe('one\n2\n3\n')
    expect(await readFile(join(copy, 'new.txt'), 'utf8')).toBe(long)
  },
)

test(
  'the largest patches are omitted until the rest fits',
  verifies('changes.runner-stays-within-limits'),
  async () => {
    const { worktree, changes } = await worktreeOf({ 'a.txt': 'a\n' })
    const files: Record<string, string> = { 'huge.txt': 'x'.repeat(70_000), 'ok.txt': 'ok\n' }
    for (let n = 0; n < 20; n++) files[`large-${String(n).padStart(2, '0')}.txt`] = `${'y'.repeat(40_000 + n)}\n`
    await write(worktree.path, files)
    const result = await changes()
    const of = (path: string) => result.files.find((file) => file.path === path)
    expect(of('huge.txt')).toMatchObject({ patch: null, omitted: 'too_large' })
    expect(of('ok.txt')?.patch).toContain('+ok')
    expect(of('large-19.txt')?.omitted).toBe('too_large')
    expect(of('large-00.txt')?.patch).toBeTruthy()
    expect(result.files.reduce((sum, { patch }) => sum + Buffer.byteLength(patch ?? ''), 0)).toBeLessThanOrEqual(
      512 * 1024,
    )
    expect(result.files_total).toBe(22)

    // Control characters take six bytes in JSON.
    await write(
      worktree.path,
      Object.fromEntries(Object.keys(files).map((name) => [name, `${'\u0001'.repeat(20_000)}\n`])),
    )
    expect(Buffer.byteLength(JSON.stringify(await changes()))).toBeLessThan(1024 * 1024)

    for (let n = 0; n < 320; n++) files[`many/${n}.txt`] = 'x\n'
    await write(worktree.path, files)
    const many = await changes()
    expect(many.files).toHaveLength(300)
    expect(many.files_total).toBe(342)
  },
)

test('a patch with a secret is omitted', verifies('run.secrets-redacted'), async () => {
  const { worktree, changes } = await worktreeOf({ 'a.txt': 'a\n' })
  await write(worktree.path, { 'a.txt': 'a\nhunter2-hunter2\n', 'b.txt': 'b\n', 'c.txt': 'two\nlines of it\n' })
  const { files } = await changes('hunter2-hunter2', 'two\nlines of it')
  expect(files.map(({ path, omitted }) => [path, omitted])).toEqual([
    ['a.txt', 'redacted'],
    ['b.txt', null],
    ['c.txt', 'redacted'],
  ])
})

test('programs of the configuration are not run', verifies('run.git-calls-hardened'), async () => {
  const { directory, source, worktree, changes, base } = await worktreeOf({
    'a.txt': 'a\n',
    '.gitattributes': '*.txt diff=odd\n',
  })
  const mark = join(await temporary(), 'ran')
  const script = `${mark}.sh`
  await write('/', { [script]: `#!/bin/sh\ntouch ${mark}\ncat "$1" 2>/dev/null; exit 0\n` })
  await chmod(script, 0o755)
  for (const [name, value] of [
    ['core.fsmonitor', script],
    ['core.hooksPath', join(directory, '.git', 'hooks')],
    ['diff.external', script],
    ['diff.odd.command', script],
    ['diff.odd.textconv', script],
    ['commit.gpgSign', 'true'],
    ['gpg.program', script],
    ['core.editor', script],
    ['core.pager', script],
  ] as const) {
    await gitIn(directory, 'config', name, value)
  }
  for (const hook of [
    'pre-commit',
    'post-commit',
    'commit-msg',
    'prepare-commit-msg',
    'post-checkout',
    'post-index-change',
    'reference-transaction',
    'pre-push',
  ]) {
    await write(directory, { [`.git/hooks/${hook}`]: `#!/bin/sh\ntouch ${mark}\n` })
    await chmod(join(directory, '.git', 'hooks', hook), 0o755)
  }
  await write(worktree.path, { 'a.txt': 'changed\n' })
  const remote = await temporary()
  await gitIn(remote, '-c', 'core.hooksPath=/dev/null', 'init', '--quiet', '--bare')
  expect((await changes()).files).toHaveLength(1)
  expect(await worktree.commitAll('ENG-1: Title\n', { name: 'Robot', email: 'usr_1@users.noreply.invalid' })).toBe(true)
  expect(await worktree.isDirty()).toBe(false)
  expect(await source.isDirty()).toBe(false)
  expect(await worktree.push(remote, 'baton/eng-1-abcdef')).toBeNull()
  const other = join(await temporary(), 'wt')
  await source.addWorktree(other, 'baton/eng-2-abcdef', base.commit)
  await source.removeWorktree(other, false)
  await expect(readFile(mark)).rejects.toThrow()
  // The worktree's .git file is the agent's to write.
  await write(worktree.path, { '.git': 'gitdir: /nowhere\n', 'b.txt': 'b\n' })
  expect((await changes()).files.map(({ path }) => path)).toContain('b.txt')
})

test('a repository inside the worktree is a submodule, or left out', async () => {
  const { worktree, changes } = await worktreeOf({ 'a.txt': 'a\n' })
  await write(worktree.path, { 'nested/x.txt': 'x\n', 'empty/y.txt': 'y\n', 'b.txt': 'b\n' })
  for (const name of ['nested', 'empty']) await gitIn(join(worktree.path, name), 'init', '--quiet')
  await gitIn(join(worktree.path, 'nested'), 'add', '--all')
  await gitIn(join(worktree.path, 'nested'), 'commit', '--quiet', '--message=Inner')
  const found = (await changes()).files.map(({ path, omitted }) => [path, omitted])
  expect(found).toContainEqual(['b.txt', null])
  expect(found).toContainEqual(['nested', 'submodule'])
})
