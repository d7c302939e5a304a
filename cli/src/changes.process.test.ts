import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../server/test/harness.ts'
import { Shell, temporary } from '../test/baton.ts'
import { gitIn } from '../test/repository.ts'
import { runnerScene } from '../test/runner-scene.ts'

const edits = {
  turns: [
    [
      { write: ['README.md', '# Acme\nMended.\n'] },
      { write: ['new.txt', 'new\n'] },
      { run: 'git rm -q gone.txt' },
      { write: ['odd.txt', '\u001b[31mred\u202e\n'] },
      { say: 'Done.' },
    ],
  ],
}

test('`baton changes` shows and applies what the agent changed', verifies('changes.cli-apply'), async ({ app }) => {
  const scene = await runnerScene(app, { script: edits, files: { 'README.md': '# Acme\n', 'gone.txt': 'gone\n' } })
  await scene.start()
  const { sessionId, issue } = await scene.delegate()
  await scene.inState(sessionId, 'complete')
  const shell = await Shell.of(scene.owner, app.rootUrl)
  const clone = join(await temporary(), 'clone')
  await gitIn(scene.repo, 'clone', '--quiet', '--branch=main', scene.repo, clone)
  const changes = (...args: string[]) => shell.run(['changes', ...args], { cwd: clone })

  const stat = await changes(issue.code)
  expect(stat).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/gone\.txt +deleted +\+0 -1[\s\S]*4 files \+3 -1\n$/),
  })
  const patch = await changes(sessionId, '--patch')
  expect(patch.stdout).toContain('+\u001b[31mred\u202e\n')
  const shown = shell.atTerminal(['changes', sessionId, '--patch'])
  await shown.ended
  expect(shown.stdout).toContain('\\u{1b}[31mred\\u{202e}')
  expect(shown.stdout).not.toContain('\u001b[31m')

  expect(await changes(issue.code, '--apply')).toMatchObject({ code: 0, stdout: 'Applied the changes of 4 files.\n' })
  await gitIn(clone, 'add', '--all')
  await gitIn(scene.worktree(sessionId), 'add', '--all')
  expect(await gitIn(clone, 'write-tree')).toBe(await gitIn(scene.worktree(sessionId), 'write-tree'))
  expect(await changes(issue.code, '--apply')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing was changed'),
  })

  // With a binary file there is no patch for it.
  await scene.setScript({ turns: [[{ run: "printf 'a\\0b' > picture.bin" }]] })
  await scene.pass(11 * 60_000)
  await scene.say(sessionId, 'A picture.')
  await scene.until(async () => (await scene.changes(sessionId)).files_total === 5)
  await gitIn(clone, 'reset', '--quiet', '--hard')
  expect(await changes(issue.code, '--apply')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('picture.bin (binary)'),
  })
  expect(await readFile(join(clone, 'README.md'), 'utf8')).toBe('# Acme\n')
  expect(await changes(issue.code, '--apply', '--partial')).toMatchObject({ code: 0 })
  expect(await readFile(join(clone, 'README.md'), 'utf8')).toBe('# Acme\nMended.\n')
  expect(await changes('ENG-999')).toMatchObject({ code: 1, stderr: expect.stringContaining('ENG-999') })
})
