import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { temporary } from '../../test/baton.ts'
import { gitIn, repository, write } from '../../test/repository.ts'
import { runnerScene } from '../../test/runner-scene.ts'
import { readSettings } from './options.ts'

const edits = { turns: [[{ write: ['a.txt', 'agent\n'] }, { say: 'Done.' }]] }

/** A bare remote `origin` of the repository, and another clone of it. */
async function withRemote(repo: string) {
  const remote = join(await temporary(), 'remote.git')
  await gitIn(repo, 'clone', '--quiet', '--bare', repo, remote)
  await gitIn(repo, 'remote', 'add', 'origin', remote)
  await gitIn(repo, 'fetch', '--quiet', 'origin')
  await gitIn(repo, 'remote', 'set-head', 'origin', 'main')
  const other = join(await temporary(), 'other')
  await gitIn(repo, 'clone', '--quiet', remote, other)
  const push = async (name: string) => {
    await write(other, { [name]: 'x\n' })
    await gitIn(other, 'add', '--all')
    await gitIn(other, 'commit', '--quiet', `--message=${name}`)
    await gitIn(other, 'push', '--quiet')
    return gitIn(other, 'rev-parse', 'HEAD')
  }
  return { remote, push }
}

test(
  'the base is origin/HEAD as known here, and stays',
  verifies('run.base-resolution', 'run.fetch-only-when-asked'),
  async ({ app }) => {
    const scene = await runnerScene(app, { script: edits })
    const { push } = await withRemote(scene.repo)
    const known = await gitIn(scene.repo, 'rev-parse', 'origin/main')
    const newer = await push('newer.txt')
    await write(scene.repo, { 'local.txt': 'local\n' })
    await gitIn(scene.repo, 'add', '--all')
    await gitIn(scene.repo, 'commit', '--quiet', '--message=Local')
    const first = await scene.start()
    const one = await scene.delegate('One')
    await scene.inState(one.sessionId, 'complete')
    expect((await scene.changes(one.sessionId)).base).toEqual({ ref: 'origin/main', commit: known })
    expect(await gitIn(scene.repo, 'rev-parse', 'origin/main')).toBe(known)
    await first.stop()

    const second = await scene.start({ fetch: true })
    const two = await scene.delegate('Two')
    await scene.inState(two.sessionId, 'complete')
    expect((await scene.changes(two.sessionId)).base.commit).toBe(newer)
    await scene.say(one.sessionId, 'More.')
    await scene.until(async () => (await scene.prompts()).length === 3)
    await scene.inState(one.sessionId, 'complete')
    expect((await scene.changes(one.sessionId)).base.commit).toBe(known)
    await second.stop()

    await scene.start({ base: 'main' })
    const three = await scene.delegate('Three')
    await scene.inState(three.sessionId, 'complete')
    expect((await scene.changes(three.sessionId)).base).toEqual({
      ref: 'main',
      commit: await gitIn(scene.repo, 'rev-parse', 'main'),
    })
  },
)

test(
  '--push pushes without force, and says if it is refused',
  verifies('run.push-not-forced', 'run.pull-request-link'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [{ write: ['a.txt', '1\n'] }, { say: 'One.' }],
          [{ write: ['a.txt', '2\n'] }, { say: 'Two.' }],
        ],
      },
      flags: { push: 'origin', 'pr-url': 'https://git.example.com/compare/{base}...{branch}?title={identifier}' },
    })
    const { remote } = await withRemote(scene.repo)
    await scene.start()
    const { sessionId, issue } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    const branch = `baton/${issue.code.toLowerCase()}-${sessionId.slice(-6)}`
    expect(await gitIn(remote, 'rev-parse', branch)).toBe(await gitIn(scene.worktree(sessionId), 'rev-parse', 'HEAD'))
    expect((await scene.session(sessionId)).external_urls).toEqual([
      {
        label: 'Pull request',
        url: `https://git.example.com/compare/main...${encodeURIComponent(branch)}?title=${issue.code}`,
      },
    ])
    expect(await scene.changes(sessionId)).toMatchObject({ pushed: true })
    // Another commit on the remote's branch: a push would need force.
    const elsewhere = await gitIn(remote, 'commit-tree', '-m', 'Other', 'main^{tree}')
    await gitIn(remote, 'update-ref', `refs/heads/${branch}`, elsewhere)
    await scene.say(sessionId, 'Again.')
    await scene.until(async () => (await scene.prompts()).length === 2)
    await scene.inState(sessionId, 'complete')
    expect((await scene.last(sessionId)).content.body).toMatch(/^Two\.\n\nThe push to origin was refused: /)
    expect(await gitIn(remote, 'rev-parse', branch)).toBe(elsewhere)
    expect(() => readSettings({ values: { 'pr-url': 'http://{branch}' }, rest: ['x'] })).toThrow(/https/)
  },
)

test(
  '--setup runs once in a new worktree, and again after a failure',
  verifies('run.setup-command'),
  async ({ app }) => {
    const mark = join(await temporary(), 'ok')
    const scene = await runnerScene(app, {
      script: { turns: [[{ say: 'Done.' }]] },
      flags: { setup: `echo x >> count.txt && test -e ${mark}` },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'error')
    expect((await scene.last(sessionId)).content).toMatchObject({
      reason_code: 'setup_failed',
      body: expect.stringContaining('exit code 1'),
    })
    expect(await scene.agentLog()).toEqual([])
    await write('/', { [mark]: '' })
    for (const text of ['Again.', 'More.']) {
      await scene.say(sessionId, text)
      await app.deliver()
      await scene.inState(sessionId, 'complete')
    }
    expect(await readFile(join(scene.worktree(sessionId), 'count.txt'), 'utf8')).toBe('x\nx\n')
  },
)

test('submodules are initialised only with --submodules', verifies('run.submodules-flag'), async ({ app }) => {
  const inner = await repository({ 'inner.txt': 'inner\n' })
  const scene = await runnerScene(app, { script: { turns: [[{ say: 'Done.' }]] } })
  await gitIn(scene.repo, 'submodule', '--quiet', 'add', inner, 'sub')
  await gitIn(scene.repo, 'commit', '--quiet', '--message=Sub')
  const first = await scene.start()
  const one = await scene.delegate('One')
  await scene.inState(one.sessionId, 'complete')
  expect(await readdir(join(scene.worktree(one.sessionId), 'sub'))).toEqual([])
  await first.stop()
  // Git clones submodules from a path only where the user's own configuration allows it.
  const config = join(await temporary(), 'gitconfig')
  await write('/', { [config]: '[protocol "file"]\n\tallow = always\n' })
  process.env.GIT_CONFIG_GLOBAL = config
  onTestFinished(() => {
    delete process.env.GIT_CONFIG_GLOBAL
  })
  await scene.start({ submodules: true })
  const two = await scene.delegate('Two')
  await scene.inState(two.sessionId, 'complete')
  expect(await readdir(join(scene.worktree(two.sessionId), 'sub'))).toContain('inner.txt')
})

test(
  'follows the branch that the agent chose, and --no-commit leaves the changes',
  verifies('run.follows-agents-branch', 'run.commit-after-turn'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [{ run: 'git checkout -q -b mine' }, { write: ['a.txt', 'a\n'] }],
          [{ run: 'git checkout -q --detach' }, { write: ['b.txt', 'b\n'] }],
        ],
      },
    })
    const first = await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    expect(await scene.changes(sessionId)).toMatchObject({ branch: 'mine', files_total: 1 })
    expect(await gitIn(scene.worktree(sessionId), 'log', '-1', '--format=%an', 'mine')).toBe('Robot')
    await scene.say(sessionId, 'More.')
    await scene.until(async () => (await scene.changes(sessionId)).files_total === 2)
    await scene.inState(sessionId, 'complete')
    expect(await scene.changes(sessionId)).toMatchObject({ branch: null })
    await first.stop()
    await scene.setScript(edits)
    await scene.start({ 'no-commit': true })
    const two = await scene.delegate('Two')
    await scene.inState(two.sessionId, 'complete')
    expect(await gitIn(scene.worktree(two.sessionId), 'status', '--porcelain')).toBe('?? a.txt')
    expect(await scene.changes(two.sessionId)).toMatchObject({ files_total: 1 })
  },
)

test('--no-git works in the directory itself', verifies('run.no-git-works-in-place'), async ({ app }) => {
  const scene = await runnerScene(app, { script: edits, flags: { 'no-git': true } })
  await scene.start()
  const { sessionId } = await scene.delegate()
  await scene.inState(sessionId, 'complete')
  expect(await readFile(join(scene.repo, 'a.txt'), 'utf8')).toBe('agent\n')
  expect((await scene.session(sessionId)).changes).toBeNull()
  expect(await gitIn(scene.repo, 'branch', '--list', 'baton/*')).toBe('')
})

test('a branch that git refuses is reported', async ({ app }) => {
  const scene = await runnerScene(app, { script: edits })
  await scene.start()
  await gitIn(scene.repo, 'branch', 'baton')
  const { sessionId } = await scene.delegate()
  await scene.inState(sessionId, 'error')
  expect((await scene.last(sessionId)).content.reason_code).toBe('worktree_failed')
  await gitIn(scene.repo, 'branch', '-D', 'baton')
  await scene.say(sessionId, 'Again.')
  await app.deliver()
  await scene.inState(sessionId, 'complete')
  await chmod(scene.repo, 0o755)
})
