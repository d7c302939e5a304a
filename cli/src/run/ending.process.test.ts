import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { isAlive } from '../../test/baton.ts'
import { gitIn, write } from '../../test/repository.ts'
import { type RunnerScene, runnerScene } from '../../test/runner-scene.ts'
import { withDescendants } from './processes.ts'

const ended = (scene: RunnerScene, sessionId: string) =>
  scene.until(async () => (await scene.session(sessionId)).ended_at !== null)
const stop = (scene: RunnerScene, sessionId: string) => scene.owner.post(`/agent-sessions/${sessionId}/stop`)
const spawned = async (scene: RunnerScene): Promise<number[]> =>
  (await scene.agentLog()).flatMap(({ spawned }) => spawned ?? [])
const pids = async (scene: RunnerScene): Promise<number[]> => [
  ...new Set((await scene.agentLog()).map(({ pid }) => pid as number)),
]
const never = '/nowhere/at/all'
const command = (id: string) => ({
  sessionUpdate: 'tool_call',
  toolCallId: id,
  kind: 'execute',
  status: 'completed',
  rawInput: { command: id },
})
const endedWithin45s = async (scene: RunnerScene, sessionId: string, stoppedAt: Date) => {
  const { ended_at } = await scene.session(sessionId)
  expect(Date.parse(ended_at) - stoppedAt.getTime()).toBeLessThanOrEqual(45_000)
}

test(
  'Stop cancels the turn and keeps the work',
  verifies('run.stop-cancels', 'run.stop-keeps-work'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: { turns: [[{ write: ['a.txt', 'a\n'] }, { spawn: ['sleep', '1000'] }, { waitFor: never }]] },
    })
    await scene.start()
    const { sessionId, issue } = await scene.delegate()
    await scene.until(async () => (await spawned(scene)).length === 1)
    const stoppedAt = app.clock.now()
    await stop(scene, sessionId)
    await ended(scene, sessionId)
    await endedWithin45s(scene, sessionId, stoppedAt)
    expect(await scene.received('session/cancel')).toHaveLength(1)
    const last = await scene.last(sessionId)
    expect([last.type, last.content.body]).toEqual(['response', 'Stopped. 1 file +1 -0'])
    expect(await scene.changes(sessionId)).toMatchObject({ files_total: 1 })
    expect(await readFile(join(scene.worktree(sessionId), 'a.txt'), 'utf8')).toBe('a\n')
    expect(await gitIn(scene.repo, 'branch', '--list', `baton/${issue.code.toLowerCase()}-*`)).toContain('baton/')
    for (const pid of [...(await pids(scene)), ...(await spawned(scene))])
      await scene.until(async () => !(await isAlive(pid)))
  },
)

test(
  'an agent that ignores everything is ended with all its descendants, in time although much waits to be said',
  verifies('run.stop-kills-descendants', 'run.stop-cancels'),
  async ({ app }) => {
    const sleeper = ['sh', '-c', 'setsid sleep 1000 & sleep 1000']
    const scene = await runnerScene(app, {
      script: {
        ignoreEnd: true,
        ignoreSignals: true,
        turns: [
          [
            // At 5 a second, these alone would take longer.
            { flood: { count: 300, update: command('step {n}') } },
            { spawn: ['sleep', '1000'] },
            { spawn: sleeper },
            { waitFor: never, ignoreCancel: true },
          ],
        ],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await spawned(scene)).length === 2)
    const [agent = 0] = await pids(scene)
    // The agent, the two it spawned, and at least one more.
    await scene.until(async () => (await withDescendants(agent)).length >= 4)
    const processes = await withDescendants(agent)
    const stoppedAt = app.clock.now()
    await stop(scene, sessionId)
    await scene.until(async () => (await scene.received('session/cancel')).length === 1)
    await scene.pass(20_000)
    await ended(scene, sessionId)
    await endedWithin45s(scene, sessionId, stoppedAt)
    expect((await scene.last(sessionId)).type).toBe('response')
    for (const { pid } of processes) await scene.until(async () => !(await isAlive(pid)))
  },
)

test(
  'the agent of a session that the service ends is ended, and nothing more is posted',
  verifies('run.immediate-end-ends-agent'),
  async ({ app }) => {
    const scene = await runnerScene(app, { flags: { parallel: '3' } })
    const go = join(scene.state.directory, 'go')
    const steps = ['one', 'two', 'three'].map((id) => ({ update: command(id) }))
    await scene.setScript({ turns: [[{ waitFor: go }, ...steps, { waitFor: never }]] })
    const { body: otherTeam } = await scene.owner.post('/teams', { name: 'Operations', key: 'OPS' })
    await scene.start()
    const inOtherTeam = await scene.delegate('One', { team_id: otherTeam.id })
    const deleted = await scene.delegate('Two')
    const left = await scene.delegate('Three')
    const all = [inOtherTeam, deleted, left]
    await scene.until(async () => (await scene.prompts()).length === 3)
    for (const { sessionId } of all) await scene.until(async () => (await scene.activities(sessionId)).length === 1)
    const started = (await scene.agentLog()).filter((entry) => entry.started)
    const isWorking = ({ sessionId }: { sessionId: string }) =>
      isAlive(started.find((entry) => entry.started === scene.worktree(sessionId)).pid)

    const writes = recordWrites()
    const endsWith = async (one: { sessionId: string }, reason: string, end: () => Promise<unknown>) => {
      const before = writes.length
      await end()
      expect(await scene.session(one.sessionId)).toMatchObject({ end_reason: reason })
      const activities = await scene.activities(one.sessionId)
      await scene.until(async () => !(await isWorking(one)))
      expect(await scene.activities(one.sessionId)).toEqual(activities)
      return writes.slice(before).filter(({ path }) => path.includes(one.sessionId))
    }
    // The app is told that it lost a team, not that an issue was deleted.
    const team_ids = [scene.team.id]
    const change = () => scene.owner.patch(`/installations/${scene.installationId}`, { team_ids })
    expect(await endsWith(inOtherTeam, 'team_removed', change)).toEqual([])
    expect(await Promise.all(all.map(isWorking))).toEqual([false, true, true])

    const refused = await endsWith(deleted, 'issue_deleted', async () => {
      await scene.owner.delete(`/issues/${deleted.issue.id}`)
      await write(scene.state.directory, { go: '' })
    })
    expect(refused).toEqual([{ path: expect.stringMatching(/activities$/), status: expect.any(Number) }])
    // So that the uninstallation meets no request that is already under way.
    await scene.until(() => writes.filter(({ path }) => path.includes(left.sessionId)).length === steps.length)
    expect(await Promise.all(all.map(isWorking))).toEqual([false, false, true])

    const uninstall = () => scene.owner.delete(`/installations/${scene.installationId}`)
    const last = await endsWith(left, 'uninstalled', uninstall)
    expect(last.filter(({ status }) => status < 300)).toEqual([])
  },
)

/** Requests of the runner that change something, as the service answers them. */
function recordWrites() {
  const writes: { path: string; status: number }[] = []
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init)
    if ((init?.method ?? 'GET') !== 'GET')
      writes.push({ path: new URL(String(input)).pathname, status: response.status })
    return response
  }
  onTestFinished(() => {
    globalThis.fetch = fetch
  })
  return writes
}

test(
  'a silent agent and an endless turn are cancelled',
  verifies('run.silent-agent-ended', 'run.no-stale-while-working'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: { turns: [[{ waitFor: never }]] },
      flags: { silence: '40m', 'turn-limit': '50m' },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await scene.prompts()).length === 1)
    for (let minute = 0; minute < 36; minute++) {
      await scene.pass(60_000)
      expect((await scene.session(sessionId)).state).toBe('active')
    }
    await scene.pass(5 * 60_000)
    await scene.inState(sessionId, 'error')
    expect((await scene.last(sessionId)).content.reason_code).toBe('agent_silent')

    const sign = (n: number) => ({
      sessionUpdate: 'tool_call',
      toolCallId: `sign-${n}`,
      kind: 'read',
      status: 'completed',
    })
    const actions = async () =>
      (await scene.activities(sessionId)).filter(({ type, ephemeral }) => type === 'action' && !ephemeral)
    await scene.until(() => scene.turnsEnded(sessionId) === 1)
    await scene.setScript({
      turns: [
        [
          ...Array.from({ length: 3 }, (_, n) => [
            { update: sign(n) },
            { waitFor: join(scene.state.directory, `go-${n}`) },
          ]).flat(),
          { waitFor: never },
        ],
      ],
    })
    await scene.pass(10 * 60_000)
    await scene.say(sessionId, 'Again.')
    await scene.until(async () => (await scene.prompts()).length === 2)
    for (let n = 0; n < 3; n++) {
      // The runner has heard of the agent, and counts its silence from then on.
      await scene.until(async () => (await actions()).length === n + 1)
      await scene.pass(17 * 60_000)
      await write(scene.state.directory, { [`go-${n}`]: '' })
    }
    await scene.inState(sessionId, 'error')
    expect((await scene.last(sessionId)).content.reason_code).toBe('turn_limit')
  },
)

test('an agent that waits for an answer is not silent', verifies('run.silent-agent-ended'), async ({ app }) => {
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
  const permission = { toolCall: { toolCallId: 'a', kind: 'execute', title: 'make' }, options }
  const scene = await runnerScene(app, {
    script: { turns: [[{ permission, allowed: [{ waitFor: never }] }]] },
    flags: { silence: '5m' },
  })
  await scene.start()
  const { sessionId } = await scene.delegate()
  await scene.inState(sessionId, 'awaitingInput')
  await scene.pass(12 * 60_000)
  expect(await scene.received('session/cancel')).toEqual([])
  expect((await scene.session(sessionId)).state).toBe('awaitingInput')
  await scene.answer(sessionId, await scene.last(sessionId), 'option-1')
  await scene.until(async () => (await scene.agentLog()).some(({ outcome }) => outcome?.optionId === 'yes'))
  await scene.pass(4 * 60_000)
  expect(await scene.received('session/cancel')).toEqual([])
  await scene.pass(2 * 60_000)
  await scene.inState(sessionId, 'error')
  expect((await scene.last(sessionId)).content.reason_code).toBe('agent_silent')
})

test('a runner that is ended cancels its turns and says so', verifies('run.graceful-shutdown'), async ({ app }) => {
  const scene = await runnerScene(app, { script: { turns: [[{ waitFor: never }]] } })
  const runner = await scene.start()
  const { sessionId } = await scene.delegate()
  await scene.until(async () => (await scene.prompts()).length === 1)
  expect(await runner.stop()).toEqual({ outcome: null })
  expect((await scene.last(sessionId)).content.reason_code).toBe('runner_stopped')
  for (const pid of await pids(scene)) expect(await isAlive(pid)).toBe(false)
  await scene.setScript({ turns: [[{ say: 'On.' }]] })
  await scene.start()
  await scene.say(sessionId, 'Continue.')
  await scene.inState(sessionId, 'complete')
  expect(await scene.prompts()).toHaveLength(2)
})

test(
  'an issue delegated while the runner was away is worked on once',
  verifies('run.catch-up-begins-missed-work'),
  async ({ app }) => {
    const scene = await runnerScene(app, { script: { turns: [[{ say: 'Done.' }]] } })
    const { sessionId } = await scene.delegate()
    await app.deliver()
    app.clock.advance({ seconds: 20 })
    await scene.start()
    const startedAt = app.clock.now().getTime()
    await scene.until(async () => (await scene.activities(sessionId)).some(({ author }) => author.kind === 'app'))
    expect(app.clock.now().getTime() - startedAt).toBeLessThan(10_000)
    await scene.inState(sessionId, 'complete')
    await scene.until(() => scene.turnsEnded(sessionId) === 1)
    await scene.say(sessionId, 'More.')
    await scene.until(() => scene.turnsEnded(sessionId) === 2)
    const path = `/agent-apps/${scene.client.app.id}/deliveries`
    const deliveries = async (): Promise<{ id: string; attempts: { http_status: number }[] }[]> =>
      (await scene.owner.get(path)).body.data
    for (const { id, attempts } of await deliveries()) {
      const again = async () => (await deliveries()).find((one) => one.id === id)?.attempts.slice(attempts.length) ?? []
      await scene.owner.post(`${path}/${id}/redeliver`)
      await scene.until(async () => (await again()).length > 0)
      expect(await again()).toMatchObject([{ http_status: 200 }])
    }
    await scene.say(sessionId, 'Last.')
    await scene.until(async () => (await scene.prompts()).some((text) => text.endsWith('Last.')))
    await scene.inState(sessionId, 'complete')
    await scene.pass(10 * 60_000)
    expect(await scene.prompts()).toEqual([expect.any(String), 'More.', 'Last.'])
  },
)
