import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { temporary } from '../../test/baton.ts'
import { gitIn, write } from '../../test/repository.ts'
import { runnerScene } from '../../test/runner-scene.ts'
import { clean } from './clean.ts'

const day = 86_400_000
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

test(
  'removes only worktrees of sessions that are over, and keeps unsaved work',
  verifies('run.clean-keeps-unsaved-work', 'run.clean-only-own-worktrees'),
  async ({ app }) => {
    const scene = await runnerScene(app, { script: { turns: [[{ say: 'Looked.' }]] } })
    const runner = await scene.start()
    const delegated = async (title: string, script: object) => {
      await scene.setScript(script)
      const { sessionId, issue } = await scene.delegate(title)
      await scene.inState(sessionId, 'complete')
      return {
        sessionId,
        branch: `baton/${issue.code.toLowerCase()}-${sessionId.slice(-6)}`,
        path: scene.worktree(sessionId),
      }
    }
    const empty = await delegated('Empty', { turns: [[{ say: 'Looked.' }]] })
    const committed = await delegated('Committed', { turns: [[{ write: ['a.txt', 'a\n'] }]] })
    const merged = await delegated('Merged', { turns: [[{ write: ['b.txt', 'b\n'] }]] })
    const dirty = await delegated('Dirty', { turns: [[{ say: 'Looked.' }]] })
    await write(dirty.path, { 'untracked.txt': 'x\n' })
    await gitIn(scene.repo, 'merge', '--quiet', merged.branch)
    const foreign = join(await temporary(), 'foreign')
    await gitIn(scene.repo, 'worktree', 'add', '--quiet', '-b', 'foreign', foreign)

    const options = {
      state: scene.state,
      client: null,
      clock: app.clock,
      olderMs: 7 * day,
      force: false,
      dryRun: false,
    }
    const { client } = await scene.clientOfApp()
    const cleaned = async (more: object = {}) => {
      const results = await clean({ ...options, client, ...more })
      return Object.fromEntries(results.map(({ session, outcome, why }) => [session, [outcome, why]]))
    }
    expect(await cleaned()).toEqual({})
    await runner.stop()
    app.clock.advance({ days: 8 })
    expect(Object.keys(await cleaned({ dryRun: true }))).toHaveLength(4)
    expect(await exists(empty.path)).toBe(true)
    const result = await cleaned()
    expect(result[empty.sessionId]).toEqual(['removed', null])
    expect(result[merged.sessionId]).toEqual(['removed', null])
    expect(result[committed.sessionId]).toEqual(['kept', expect.stringContaining('on no other branch')])
    expect(result[dirty.sessionId]).toEqual(['kept', expect.stringContaining('uncommitted')])
    expect(await Promise.all([empty, merged, committed, dirty].map(({ path }) => exists(path)))).toEqual([
      false,
      false,
      true,
      true,
    ])
    expect(await exists(foreign)).toBe(true)
    expect(await gitIn(scene.repo, 'branch', '--list', 'foreign', 'main', committed.branch)).toMatch(
      /baton[\s\S]*foreign[\s\S]*main/,
    )

    // A later message restores the worktree.
    await scene.setScript({ turns: [[{ write: ['again.txt', 'x\n'] }, { say: 'Back.' }]] })
    await gitIn(scene.repo, 'worktree', 'remove', '--force', committed.path)
    const again = await scene.start()
    await scene.say(committed.sessionId, 'Once more.')
    await scene.until(async () => (await scene.last(committed.sessionId)).content.body === 'Back.')
    expect(await readFile(join(committed.path, 'a.txt'), 'utf8')).toBe('a\n')
    await again.stop()

    app.clock.advance({ days: 8 })
    const forced = await cleaned({ force: true })
    expect(forced[committed.sessionId]?.[0]).toBe('removed')
    expect(forced[dirty.sessionId]).toEqual(['removed', expect.stringContaining('uncommitted')])
    expect(await exists(dirty.path)).toBe(false)
    expect(await gitIn(scene.repo, 'branch', '--list', 'baton/*')).toBe('')
  },
)
