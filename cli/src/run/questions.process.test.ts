import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { isAlive } from '../../test/baton.ts'
import { type RunnerScene, runnerScene } from '../../test/runner-scene.ts'

const options = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'once', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
const ask = (title: string, id = title) => ({
  toolCall: { toolCallId: id, kind: 'execute', title, rawInput: { command: title } },
  options,
})

const question = async (scene: RunnerScene, sessionId: string) => {
  await scene.inState(sessionId, 'awaitingInput')
  return scene.last(sessionId)
}
const outcomes = async (scene: RunnerScene) =>
  (await scene.agentLog()).flatMap(({ outcome }) => (outcome ? [outcome.optionId ?? outcome.outcome] : []))
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

test(
  'asks for what no policy decides, and follows the answer',
  verifies(
    'run.permission-asked-as-select',
    'run.permission-allowed',
    'run.permission-refused',
    'run.permission-session-memory',
    'run.permission-always-left-out',
  ),
  async ({ app }) => {
    const step = (name: string, file: string) => ({
      permission: ask(name),
      allowed: [{ write: [file, ''] }],
      refused: [],
    })
    const scene = await runnerScene(app, {
      script: {
        turns: [[step('touch a', 'a'), step('touch b', 'b'), step('make', 'c'), step('make', 'd'), { say: 'Done.' }]],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    const first = await question(scene, sessionId)
    expect(first).toMatchObject({ type: 'elicitation', signal: 'select' })
    expect(first.content.body).toContain('touch a')
    expect(first.signal_metadata?.options.map(({ label }) => label)).toEqual([
      'Yes',
      'No',
      'Allow this for the session',
    ])
    await scene.answer(sessionId, first, 'option-1')
    await scene.until(async () => (await outcomes(scene)).length === 1)
    const second = await question(scene, sessionId)
    await scene.answer(sessionId, second, 'option-2')
    await scene.until(async () => (await outcomes(scene)).length === 2)
    const third = await question(scene, sessionId)
    await scene.answer(sessionId, third, 'option-3')
    await scene.inState(sessionId, 'complete')
    expect(await outcomes(scene)).toEqual(['once', 'no', 'once', 'once'])
    const at = (name: string) => exists(join(scene.worktree(sessionId), name))
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(at))).toEqual([true, false, true, true])
    expect((await scene.last(sessionId)).content.body).toBe('Done.')

    // Not in other sessions.
    const other = await scene.delegate('Other')
    await question(scene, other.sessionId)
  },
)

test(
  'asks one question at a time, and says nothing while it is open',
  verifies('run.permission-one-at-a-time'),
  async ({ app }) => {
    const late = {
      sessionUpdate: 'tool_call',
      toolCallId: 'x',
      kind: 'read',
      status: 'completed',
      locations: [{ path: 'README.md' }],
    }
    const scene = await runnerScene(app)
    await scene.setScript({ turns: [[{ permissions: [ask('one'), ask('two')] }, { update: late }, { say: 'Done.' }]] })
    await scene.start()
    const { sessionId } = await scene.delegate()
    const first = await question(scene, sessionId)
    await scene.pass(60_000)
    expect((await scene.session(sessionId)).state).toBe('awaitingInput')
    expect((await scene.last(sessionId)).id).toBe(first.id)
    await scene.answer(sessionId, first, 'option-1')
    await scene.until(
      async () => (await scene.last(sessionId)).type === 'elicitation' && (await scene.last(sessionId)).id !== first.id,
    )
    const second = await scene.last(sessionId)
    expect(second.content.body).toContain('two')
    await scene.answer(sessionId, second, 'option-2')
    await scene.inState(sessionId, 'complete')
    expect(await outcomes(scene)).toEqual(['once', 'no'])
  },
)

test('other text refuses and is the next prompt', verifies('run.permission-free-text'), async ({ app }) => {
  const scene = await runnerScene(app, {
    script: { turns: [[{ permission: ask('rm -rf .'), refused: [{ say: 'Not done.' }] }], [{ say: 'Used yarn.' }]] },
  })
  await scene.start()
  const { sessionId } = await scene.delegate()
  await question(scene, sessionId)
  await scene.say(sessionId, 'Use yarn instead.')
  await scene.until(async () => (await scene.last(sessionId)).content.body === 'Used yarn.')
  expect(await outcomes(scene)).toEqual(['no'])
  expect((await scene.prompts())[1]).toBe('Use yarn instead.')
})

test(
  'Stop, the end of the session and the timeout refuse',
  verifies('run.permission-default-deny'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: { turns: [[{ permission: ask('make') }, { say: 'On.' }]] },
      flags: { 'answer-timeout': '5m' },
    })
    await scene.start()
    const one = await scene.delegate('One')
    await question(scene, one.sessionId)
    await scene.pass(5 * 60_000)
    await scene.inState(one.sessionId, 'complete')
    expect(await outcomes(scene)).toEqual(['no'])
    await scene.setScript({
      turns: [[{ permission: { ...ask('make'), options: options.slice(0, 2) } }, { say: 'On.' }]],
    })
    const two = await scene.delegate('Two')
    await question(scene, two.sessionId)
    await scene.owner.post(`/agent-sessions/${two.sessionId}/stop`)
    await scene.until(async () => (await scene.session(two.sessionId)).ended_at !== null)
    expect((await outcomes(scene))[1]).toBe('cancelled')
    await scene.setScript({ turns: [[{ permission: ask('make') }, { say: 'On.' }]] })
    const three = await scene.delegate('Three')
    await question(scene, three.sessionId)
    const { pid } = (await scene.received('session/prompt')).at(-1)
    const { body: otherTeam } = await scene.owner.post('/teams', { name: 'Operations', key: 'OPS' })
    await scene.owner.patch(`/installations/${scene.installationId}`, { team_ids: [otherTeam.id] })
    expect(await scene.session(three.sessionId)).toMatchObject({ end_reason: 'team_removed' })
    await scene.until(async () => !(await isAlive(pid)))
    expect(await outcomes(scene)).toEqual(['no', 'cancelled', 'no'])
    expect((await scene.received('session/cancel')).at(-1)).toMatchObject({ pid })
  },
)

test('follows only the people of --people', verifies('run.people-limited'), async ({ app }) => {
  const scene = await runnerScene(app, {
    script: { turns: [[{ permission: ask('make'), allowed: [{ say: 'Made.' }] }]] },
    people: ({ member }) => [member],
  })
  await scene.start()
  const foreign = await scene.delegate('Not mine')
  await scene.inState(foreign.sessionId, 'error')
  expect((await scene.last(foreign.sessionId)).content.reason_code).toBe('not_for_you')
  expect(await scene.agentLog()).toEqual([])
  await scene.owner.put(`/teams/${scene.team.id}/members/${scene.member.user.id}`)
  const { body } = await scene.member.post('/issues', {
    title: 'Mine',
    team_id: scene.team.id,
    delegate_id: scene.agentUserId,
  })
  const { body: sessions } = await scene.owner.get(`/agent-sessions?issue_id=${body.id}`)
  const sessionId = sessions.data[0].id
  const first = await question(scene, sessionId)
  await scene.answer(sessionId, first, 'option-1')
  await scene.until(
    async () => (await scene.last(sessionId)).type === 'elicitation' && (await scene.last(sessionId)).id !== first.id,
  )
  expect(await outcomes(scene)).toEqual([])
  const said = await scene.activities(sessionId)
  expect(said.at(-2)?.content.body).toMatch(/is not followed/)
  const answered = await scene.answer(sessionId, said.at(-1) as never, 'option-1', scene.member)
  expect(answered).toMatchObject({ status: 201 })
  await scene.inState(sessionId, 'complete')
  expect((await scene.last(sessionId)).content.body).toBe('Made.')
})
