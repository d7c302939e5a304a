import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { gitIn } from '../../test/repository.ts'
import { type RunnerScene, runnerScene } from '../../test/runner-scene.ts'

const lasting = async (scene: RunnerScene, sessionId: string, type: string) =>
  (await scene.activities(sessionId)).filter((one) => one.type === type && !one.ephemeral).map(({ content }) => content)
const run = (id: string, more: object = {}) => ({
  sessionUpdate: 'tool_call',
  toolCallId: id,
  kind: 'execute',
  status: 'completed',
  rawInput: { command: id },
  ...more,
})

test(
  'an agent that says more than can be posted has to wait, and Stop still ends it',
  verifies('run.rate-limits-respected', 'run.stop-kills-descendants'),
  async ({ app }) => {
    const plan = (content: string) => ({ sessionUpdate: 'plan', entries: [{ content, status: 'pending' }] })
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [
            { flood: { count: 200, update: plan('Step {n}') } },
            { flood: { count: 20_000, update: run('command {n}') } },
            { run: 'true' },
            { say: 'Done.' },
          ],
        ],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await lasting(scene, sessionId, 'action')).length >= 20)
    const [first, second] = await lasting(scene, sessionId, 'action')
    expect([first?.parameter, second?.parameter]).toEqual(['command 0', 'command 1'])
    expect((await scene.session(sessionId)).plan).toEqual([{ content: 'Step 199', status: 'pending' }])
    // It is blocked within its flood.
    expect((await scene.agentLog()).filter(({ ran }) => ran !== undefined)).toEqual([])
    await scene.owner.post(`/agent-sessions/${sessionId}/stop`)
    await scene.until(async () => (await scene.received('session/cancel')).length === 1)
    await scene.pass(20_000)
    await scene.until(async () => (await scene.session(sessionId)).ended_at !== null)
    const page = (after: number) =>
      scene.owner.get(`/agent-sessions/${sessionId}/activities?limit=200&after_seq=${after}`)
    let { body } = await page(0)
    // 200 wait at most, and what came in one piece with the last of them.
    for (let pages = 1; body.has_more; pages++) {
      expect(pages).toBeLessThan(10)
      body = (await page(body.last_seq)).body
    }
    expect(body.data.at(-1).content.body).toMatch(/^Stopped\./)
  },
)

const secret = `Hunter-${'0123456789abcdefghijklmnopqrstuvwxyz'.repeat(3)}`
/** Texts in which the secret is where a text of this length is cut. */
const around = (most: number) => [
  `${'a '.repeat(most / 2 - 20)}${secret}${' b'.repeat(most)}`,
  `${'c '.repeat(most)}${secret}${' d'.repeat(most / 2 - 20)}`,
]

test(
  'no part of a secret appears where a text is cut, and no name or number of an agent stops its reports',
  verifies('run.secrets-redacted', 'usage.reported-by-runner'),
  async ({ app }) => {
    const [early = '', late = ''] = around(32_000)
    const updates = [
      ...around(500).map((command, n) => run(`command-${n}`, { rawInput: { command } })),
      ...around(4000).map((rawOutput, n) => run(`output-${n}`, { rawOutput })),
      ...around(80).map((title, n) => ({ ...run(`title-${n}`, { kind: 'other', rawInput: {}, title }) })),
      run('control', { rawOutput: `${secret.slice(0, 20)}\u001b[31m${secret.slice(20)}` }),
      { sessionUpdate: 'plan', entries: around(500).map((content) => ({ content, status: 'pending' })) },
      { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 1e300, currency: 'USD' } },
    ]
    const key = ['-----BEGIN RSA PRIVATE KEY-----', secret.slice(0, 50), '-----END RSA PRIVATE KEY-----'].join('\n')
    const scene = await runnerScene(app, {
      env: { MY_TOKEN: secret },
      script: {
        turns: [
          [
            { thought: late },
            { say: early },
            ...updates.map((update) => ({ update })),
            { stderr: `${'e'.repeat(19_990)}${secret}` },
            { stderr: `${'f'.repeat(1990)}${secret}` },
            { stderr: key },
            { stderr: 'after the key' },
            { write: [`${secret}.txt`, 'x\n'] },
            { write: ['..\\outside', 'x\n'] },
            { run: `git checkout -q -b ${secret}` },
            { say: `${late}\u0000\u0007` },
            { stop: 'end_turn', usage: { inputTokens: 1e300, outputTokens: 1, totalTokens: 1 } },
          ],
          [{ error: { code: 1, message: around(2000)[0], data: around(2000)[1] } }],
        ],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    expect((await scene.session(sessionId)).usage).toMatchObject({ cost_micros: 1e15, input_tokens: 1e15 })
    expect(await scene.changes(sessionId)).toMatchObject({
      branch: null,
      files_total: 2,
      files: [{ path: '[redacted].txt', omitted: 'redacted' }],
    })
    await scene.say(sessionId, 'Again.')
    await scene.inState(sessionId, 'error')
    await scene.until(() => scene.notes.some((line) => line.includes('after the key')))
    const said = JSON.stringify([
      await scene.activities(sessionId),
      await scene.session(sessionId),
      await scene.changes(sessionId),
      scene.notes,
    ])
    expect(said).toContain('[redacted]')
    for (let n = 0; n + 12 <= secret.length; n++) expect(said).not.toContain(secret.slice(n, n + 12))
  },
)

test(
  'a question shows characters that would hide what it is about, and unclear paths are asked for',
  verifies('run.permission-outside-asked', 'run.permission-asked-as-select'),
  async ({ app }) => {
    const options = [
      { optionId: 'yes', name: 'Yes\u202e', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ]
    const ask = (toolCall: object) => ({ permission: { toolCall: { toolCallId: 'a', ...toolCall }, options } })
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [
            ask({ kind: 'execute', rawInput: { command: 'echo \u202e ~/ fr- mr' } }),
            ask({ kind: 'edit', rawInput: { edits: [{ path: 'a' }, { path: `${'../'.repeat(30)}etc/passwd` }] } }),
            ask({ kind: 'read', locations: [{ path: 'file:///etc/passwd' }] }),
            { say: 'Done.' },
          ],
        ],
      },
    })
    const before = await gitIn(scene.repo, 'status', '--porcelain', '--branch')
    await scene.start()
    const { sessionId } = await scene.delegate()
    const questions = []
    for (let n = 0; n < 3; n++) {
      const asked = async () => (await scene.activities(sessionId)).filter(({ type }) => type === 'elicitation')
      await scene.until(async () => (await asked()).length === n + 1)
      const question = (await asked()).at(-1)
      if (!question) throw new Error('there is no question')
      questions.push(question)
      expect(await scene.answer(sessionId, question, 'option-2')).toMatchObject({ status: 201 })
    }
    await scene.inState(sessionId, 'complete')
    expect(questions.map(({ content }) => content.body)).toEqual([
      'Allow `run`?\n```\necho <U+202E> ~/ fr- mr\n```',
      expect.stringContaining('etc/passwd'),
      expect.stringContaining('file:///etc/passwd'),
    ])
    expect(questions[0]?.signal_metadata?.options[0]?.label).toBe('Yes<U+202E>')
    expect(await gitIn(scene.repo, 'status', '--porcelain', '--branch')).toBe(before)
  },
)
