import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { isAlive } from '../../test/baton.ts'
import { cuttableNetwork } from '../../test/cuttable-network.ts'
import { gitIn, write } from '../../test/repository.ts'
import { type RunnerScene, runnerScene } from '../../test/runner-scene.ts'

// Runners that are killed with SIGKILL are in run.process.test.ts, which has processes of its own for them. Here are the states
// that such a runner leaves, and the ends of the agent and of the network.

const step = (command: string) => ({
  update: {
    sessionUpdate: 'tool_call',
    toolCallId: command,
    kind: 'execute',
    status: 'completed',
    rawInput: { command },
  },
})
const cost = (amount: number) => ({
  update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } },
})
const actions = async (scene: RunnerScene, sessionId: string) =>
  (await scene.activities(sessionId)).flatMap(({ type, ephemeral, content }) =>
    type === 'action' && !ephemeral ? [content.parameter] : [],
  )
const processes = (scene: RunnerScene) => readFile(scene.state.at('processes.json'), 'utf8').catch(() => '')
const spawned = async (scene: RunnerScene): Promise<number[]> =>
  (await scene.agentLog()).flatMap(({ spawned }) => spawned ?? [])

test(
  'a runner that was killed after the last word says nothing more about the turn',
  verifies('run.interrupted-turn-reported', 'run.no-prompt-twice'),
  async ({ app }) => {
    const scene = await runnerScene(app, { script: { turns: [[{ say: 'Done.' }]] } })
    const first = await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    await first.stop()
    const journal = scene.state.at('journal.jsonl')
    const lines = (await readFile(journal, 'utf8')).split('\n').filter((line) => !line.includes('"finished"'))
    await writeFile(journal, `${lines.join('\n')}\n`)
    await scene.start()
    await scene.until(async () => (await readFile(journal, 'utf8')).includes('"finished"'))
    expect((await scene.last(sessionId)).content.body).toBe('Done.')
    await scene.say(sessionId, 'And now?')
    await scene.until(async () => (await scene.prompts()).length === 2)
    expect((await scene.prompts())[1]?.trimEnd().endsWith('And now?')).toBe(true)
  },
)

test(
  'a worktree that a killed runner made and did not write down does not stop the next',
  verifies('run.unbegun-work-done-after-restart', 'run.checkout-untouched'),
  async ({ app }) => {
    const scene = await runnerScene(app, { script: { turns: [[{ write: ['a.txt', 'a\n'] }, { say: 'Done.' }]] } })
    const { sessionId, issue } = await scene.delegate()
    const branch = `baton/${issue.code.toLowerCase()}-${sessionId.slice(-6)}`
    await gitIn(scene.repo, 'worktree', 'add', '--quiet', '-b', branch, scene.worktree(sessionId), 'main')
    const before = await gitIn(scene.repo, 'status', '--porcelain', '--branch')
    await scene.start()
    await scene.inState(sessionId, 'complete')
    expect(await scene.prompts()).toHaveLength(1)
    expect(await scene.changes(sessionId)).toMatchObject({ files_total: 1, branch })
    expect(await gitIn(scene.repo, 'status', '--porcelain', '--branch')).toBe(before)
  },
)

test('a session that was stopped while the runner was away is not worked on', async ({ app }) => {
  const scene = await runnerScene(app, { script: { turns: [[{ say: 'Done.' }]] } })
  const { sessionId } = await scene.delegate()
  await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
  await app.deliver()
  app.clock.advance({ minutes: 5 })
  await app.tick()
  const received = async () =>
    (await readFile(scene.state.at('journal.jsonl'), 'utf8')).split('\n').filter((line) => line.includes('"received"'))
  const first = await scene.start()
  await scene.until(async () => (await received()).length === 2)
  await scene.pass(60_000)
  await first.stop()
  // The next start removes what is finished from the journal.
  const second = await scene.start()
  await scene.pass(60_000)
  await second.stop()
  expect(await scene.prompts()).toEqual([])
  expect(await received()).toEqual([])
})

test(
  'every process is written down before it gets work, also that of --setup',
  verifies('run.setup-command', 'run.stop-kills-descendants'),
  async ({ app }) => {
    const scene = await runnerScene(app, { flags: { setup: 'echo $$ > pid; exec sleep 1000' } })
    await scene.start()
    const { sessionId } = await scene.delegate()
    const file = join(scene.worktree(sessionId), 'pid')
    await scene.until(async () => (await readFile(file, 'utf8').catch(() => '')).endsWith('\n'))
    const pid = Number(await readFile(file, 'utf8'))
    await scene.until(async () => (await processes(scene)).includes(`"pid": ${pid},`))
    await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
    await scene.until(async () => (await scene.session(sessionId)).ended_at !== null)
    expect(await isAlive(pid)).toBe(false)
  },
)

test(
  'an agent that is killed is reported, also while a question is open, and leaves no process',
  verifies('run.crash-reported', 'run.no-prompt-twice'),
  async ({ app }) => {
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ]
    const permission = { toolCall: { toolCallId: 'a', kind: 'execute', title: 'make' }, options }
    const scene = await runnerScene(app, { script: { turns: [[{ permission }]] } })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'awaitingInput')
    const [{ pid }] = await scene.agentLog()
    expect(await processes(scene)).toContain(`"pid": ${pid},`)
    process.kill(pid, 'SIGKILL')
    await scene.inState(sessionId, 'error')
    expect((await scene.last(sessionId)).content).toMatchObject({
      reason_code: 'agent_crashed',
      body: 'The agent was ended by SIGKILL.',
    })

    // Killed between two turns, it leaves a process that had left its group.
    const go = join(scene.state.directory, 'go')
    await scene.setScript({ turns: [[{ spawn: ['sleep', '1000'] }, { waitFor: go }, { say: 'Two.' }]] })
    await scene.say(sessionId, 'Again.')
    await scene.until(async () => (await spawned(scene)).length === 1)
    const [left = 0] = await spawned(scene)
    await scene.until(async () => (await processes(scene)).includes(`"pid": ${left},`))
    await write(scene.state.directory, { go: '' })
    await scene.inState(sessionId, 'complete')
    const second = (await scene.agentLog()).at(-1).pid
    process.kill(second, 'SIGKILL')
    await scene.until(async () => !(await isAlive(second)))
    await scene.setScript({ turns: [[{ say: 'Three.' }]] })
    await scene.say(sessionId, 'Once more.')
    await scene.until(async () => (await scene.last(sessionId)).content.body === 'Three.')
    expect(await isAlive(left)).toBe(false)
    expect(await scene.prompts()).toHaveLength(3)
  },
)

test(
  'what an agent does while the network is cut is reported when it is back, in order and once',
  verifies('run.no-prompt-twice', 'run.catch-up-begins-missed-work', 'usage.reported-by-runner'),
  async ({ app }) => {
    const network = await cuttableNetwork(app.rootUrl)
    const scene = await runnerScene(app, { url: network.url })
    const go = join(scene.state.directory, 'go')
    await scene.setScript({
      turns: [
        [
          step('one'),
          { waitFor: go },
          { write: ['a.txt', 'a\n'] },
          step('two'),
          cost(0.5),
          step('three'),
          { say: 'Done.' },
          { run: 'true' },
        ],
      ],
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await actions(scene, sessionId)).length === 1)
    network.cut()
    await write(scene.state.directory, { go: '' })
    await scene.until(async () => (await scene.agentLog()).some(({ ran }) => ran !== undefined))
    const missed = await scene.delegate('Delegated during the cut')
    await scene.pass(60_000)
    expect(await actions(scene, sessionId)).toEqual(['one'])
    expect((await scene.session(sessionId)).state).toBe('active')
    network.restore()
    while ((await scene.session(sessionId)).state !== 'complete') await scene.pass(10_000)
    expect(await actions(scene, sessionId)).toEqual(['one', 'two', 'three'])
    expect((await scene.last(sessionId)).content.body).toBe('Done.')
    expect(await scene.changes(sessionId)).toMatchObject({ files_total: 1 })
    expect((await scene.session(sessionId)).usage).toMatchObject({ cost_micros: 500_000 })
    while ((await scene.session(missed.sessionId)).state === 'pending') await scene.pass(10_000)
    await scene.inState(missed.sessionId, 'complete')
    expect(await scene.prompts()).toHaveLength(2)
  },
)
