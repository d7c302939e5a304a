import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { isAlive, temporary } from '../../test/baton.ts'
import { write } from '../../test/repository.ts'
import { runnerScene } from '../../test/runner-scene.ts'
import { withPrompt } from './plain.ts'

/** A command that does what the JavaScript says. */
async function command(source: string): Promise<string[]> {
  const file = join(await temporary(), 'command.mjs')
  await write('/', { [file]: source })
  return [process.execPath, file]
}
const readInput = `let input = ''; for await (const chunk of process.stdin) input += chunk;`

test(
  'the prompt is on stdin, the output is the answer, and a follow-up is told the conversation',
  verifies('run.plain-prompt', 'run.plain-response', 'run.plain-follow-up', 'run.no-shell-for-issue-text'),
  async ({ app }) => {
    const log = join(await temporary(), 'prompts')
    const source = `import { appendFileSync } from 'node:fs'; ${readInput}
      appendFileSync(${JSON.stringify(log)}, JSON.stringify([process.cwd(), process.argv.slice(2), input]) + '\\n');
      process.stdout.write('\\u001b[31mred\\u001b[0m ' + 'x'.repeat(40000) + ' end');
      if (input.includes('fail now')) process.exit(4)`
    const hostile = 'Mend $(touch /tmp/owned) `touch /tmp/owned`; rm -rf . && \'quote"'
    const scene = await runnerScene(app, { command: await command(source), flags: { plain: true } })
    const read = async () =>
      (await readFile(log, 'utf8'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    await scene.start()
    const { sessionId } = await scene.delegate(hostile)
    await scene.inState(sessionId, 'complete')
    const { content } = await scene.last(sessionId)
    expect([...(content.body ?? '')]).toHaveLength(32_000)
    expect(content.body).toMatch(/x end$/)
    expect(content.body).not.toContain('\u001b')
    const [[cwd, args, prompt]] = await read()
    expect([cwd, args]).toEqual([scene.worktree(sessionId), []])
    expect(prompt).toContain('rm -rf . &amp;&amp;')
    await scene.say(sessionId, 'And more.')
    await scene.until(async () => (await read()).length === 2)
    await scene.inState(sessionId, 'complete')
    const [, [, , second]] = await read()
    expect(second).toContain('<conversation-so-far>')
    expect(second.trimEnd().endsWith('And more.')).toBe(true)
    await scene.say(sessionId, 'fail now')
    await scene.inState(sessionId, 'error')
    expect((await scene.last(sessionId)).content).toMatchObject({
      reason_code: 'agent_failed',
      body: 'The command ended with exit code 4.',
    })
  },
)

test(
  '--follow-up gets the message alone, and {prompt} is one argument',
  verifies('run.plain-follow-up', 'run.plain-prompt'),
  async ({ app }) => {
    const [program = '', file = ''] = await command(`console.log(JSON.stringify(process.argv.slice(2)))`)
    const scene = await runnerScene(app, {
      command: [program, file, 'first', '{prompt}'],
      flags: { plain: true, 'follow-up': `${program} ${file} later {prompt}` },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    const [first, prompt] = JSON.parse((await scene.last(sessionId)).content.body ?? '')
    expect(first).toBe('first')
    expect(prompt).toContain('Mend the door')
    await scene.say(sessionId, '$(whoami) "x" and more')
    await scene.until(
      async () => (await scene.last(sessionId)).content.body === JSON.stringify(['later', '$(whoami) "x" and more']),
    )
  },
)

test('a long prompt is cut at its end with a note', verifies('run.plain-prompt'), () => {
  const [, cut = ''] = withPrompt(['x', '-p={prompt}'], 'ü'.repeat(60_000))
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(100_003)
  expect(cut).toMatch(/^-p=ü+\n\[The rest was cut/)
  expect(withPrompt(['x', '{prompt}'], 'a {prompt} $& b')).toEqual(['x', 'a {prompt} $& b'])
})

test(
  'Stop interrupts a plain command, and ends it with its descendants',
  verifies('run.stop-kills-descendants'),
  async ({ app }) => {
    const log = join(await temporary(), 'pids')
    const source = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
    process.on('SIGINT', () => {});
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    writeFileSync(${JSON.stringify(log)}, process.pid + ' ' + child.pid);
    console.log('working'); setInterval(() => {}, 1000)`
    const scene = await runnerScene(app, { command: await command(source), flags: { plain: true } })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await readFile(log, 'utf8').catch(() => '')) !== '')
    const pids = (await readFile(log, 'utf8')).split(' ').map(Number)
    await scene.until(async () =>
      (await scene.activities(sessionId)).some(
        ({ content }) => content.body === 'working\n' || content.body === 'working',
      ),
    )
    await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
    await scene.until(async () => scene.notes.some((line) => line.includes('stopped by a person')))
    await scene.pass(11_000)
    await scene.until(async () => (await scene.session(sessionId)).ended_at !== null)
    for (const pid of pids) await scene.until(async () => !(await isAlive(pid)))
  },
)
