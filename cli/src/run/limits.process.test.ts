import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { type TestApp, test, verifies } from '../../../server/test/harness.ts'
import { temporary } from '../../test/baton.ts'
import { type RunnerScene, runnerScene } from '../../test/runner-scene.ts'

const read = (id: string) => ({
  sessionUpdate: 'tool_call',
  toolCallId: id,
  kind: 'read',
  status: 'completed',
  locations: [{ path: `${id}.ts` }],
})
const run = (id: string) => ({
  sessionUpdate: 'tool_call',
  toolCallId: id,
  kind: 'execute',
  status: 'completed',
  rawInput: { command: id },
})
const actions = async (scene: RunnerScene, sessionId: string) =>
  (await scene.activities(sessionId))
    .filter(({ type, ephemeral }) => type === 'action' && !ephemeral)
    .map(({ content }) => content)

test(
  'a flood of updates leads to no 429, and nothing lasting is lost',
  verifies('run.rate-limits-respected', 'run.backlog-merges-reads'),
  async ({ app }) => {
    const chunk = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'thinking {n} ' } }
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [
            { flood: { count: 4000, update: chunk } },
            { update: run('first') },
            { flood: { count: 300, update: read('file-{n}') } },
            ...Array.from({ length: 25 }, (_, n) => ({ update: run(`step-${n}`) })),
            { flood: { count: 4000, update: chunk } },
            { say: 'Done.' },
          ],
        ],
      },
    })
    let refused = 0
    const { fetch } = globalThis
    globalThis.fetch = async (...args) => {
      const response = await fetch(...args)
      if (response.status === 429) refused++
      return response
    }
    try {
      await scene.start()
      const { sessionId } = await scene.delegate()
      await scene.inState(sessionId, 'complete')
      expect(refused).toBe(0)
      const all = await actions(scene, sessionId)
      const runs = all.filter(({ action }) => action === 'run').map(({ parameter }) => parameter)
      expect(runs).toEqual(['first', ...Array.from({ length: 25 }, (_, n) => `step-${n}`)])
      const merged = all.filter(({ action }) => action === 'read')
      expect(merged.length).toBeLessThan(30)
      const counted = merged.reduce(
        (sum, { parameter = '' }) => sum + Number(/^(\d+) times$/.exec(parameter)?.[1] ?? 1),
        0,
      )
      expect(counted).toBe(300)
      expect((await scene.last(sessionId)).content.body).toBe('Done.')
    } finally {
      globalThis.fetch = fetch
    }
  },
)

test(
  'odd messages do not end a turn, and calls that are not offered are refused',
  verifies('run.unknown-messages-ignored', 'run.unadvertised-calls-refused', 'run.tool-call-one-lasting-action'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [
            ...[
              'no json',
              '[1,2]',
              '7',
              '{"jsonrpc":"2.0"}',
              '{"jsonrpc":"2.0","method":"odd/note","params":{}}',
              '{"jsonrpc":"2.0","id":999,"result":{}}',
              '{"jsonrpc":"2.0","method":"session/update"}',
            ].map((raw) => ({ raw })),
            { update: { sessionUpdate: 'brand_new', x: 1 } },
            { call: { method: 'fs/write_text_file', params: { path: '/tmp/baton-owned', content: 'x' } } },
            { call: { method: 'fs/read_text_file', params: { path: '/etc/passwd' } } },
            { call: { method: 'terminal/create', params: { command: 'id' } } },
            { call: { method: 'elicitation/create', params: {} } },
            {
              update: {
                sessionUpdate: 'tool_call',
                toolCallId: 'open',
                kind: 'execute',
                title: 'Long one',
                status: 'in_progress',
              },
            },
            { say: 'Still here.' },
          ],
        ],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    expect((await scene.last(sessionId)).content.body).toBe('Still here.')
    expect(await actions(scene, sessionId)).toEqual([
      { type: 'action', action: 'run', parameter: 'Long one', result: 'Not finished.' },
    ])
    const answers = (await scene.agentLog()).flatMap(({ answer, method }) =>
      answer ? [[method, answer.error?.code]] : [],
    )
    expect(answers.map(([, code]) => code)).toEqual([-32601, -32601, -32601, -32601])
  },
)

test(
  'thoughts are shown every 2 seconds, and a call that runs for a second before it ends',
  verifies('run.thoughts-coalesced', 'run.tool-call-one-lasting-action'),
  async ({ app }) => {
    const directory = await temporary()
    const go = (n: number) => join(directory, `go-${n}`)
    const call = { sessionUpdate: 'tool_call', toolCallId: 'slow', kind: 'execute', rawInput: { command: 'npm test' } }
    const done = { sessionUpdate: 'tool_call_update', toolCallId: 'slow', status: 'completed', rawOutput: 'ok' }
    // The refusal of the call shows the agent that the runner has taken what it sent before.
    const taken = { call: { method: 'terminal/create' } }
    const letters = ['a', 'b', 'c']
    const thoughts = letters.flatMap((letter, n) => [{ waitFor: go(n) }, { thought: letter.repeat(1500) }, taken])
    const scene = await runnerScene(app, {
      script: {
        turns: [
          [
            ...thoughts,
            { waitFor: go(3) },
            { update: { ...call, status: 'in_progress' } },
            { waitFor: go(4) },
            { update: done },
            { say: 'Done.' },
          ],
        ],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await scene.prompts()).length === 1)
    // The last thought of the runner's own is longer ago.
    await scene.pass(10_000)

    const posted = recordThoughts(app)
    const startedAt = app.clock.now().getTime()
    const think = async (n: number) => {
      await writeFile(go(n), '')
      await inRealTime(async () => (await scene.agentLog()).filter(({ answer }) => answer).length === n + 1)
    }
    await think(0)
    await inRealTime(() => posted.length > 0)
    await think(1)
    app.clock.advance({ milliseconds: 1999 })
    await think(2)
    app.clock.advance({ milliseconds: 1 })
    await inRealTime(() => posted.length > 1)
    expect(posted).toEqual([
      { at: startedAt, body: 'a'.repeat(1500) },
      { at: startedAt + 2000, body: `…${'b'.repeat(499)}${'c'.repeat(1500)}` },
    ])

    await writeFile(go(3), '')
    const shown = async () => (await scene.activities(sessionId)).filter(({ type }) => type === 'action')
    await scene.until(async () => (await shown()).length === 1)
    expect((await shown())[0]).toMatchObject({ ephemeral: true, content: { action: 'run', parameter: 'npm test' } })
    await writeFile(go(4), '')
    await scene.inState(sessionId, 'complete')
    expect(await actions(scene, sessionId)).toEqual([
      { type: 'action', action: 'run', parameter: 'npm test', result: 'ok' },
    ])
  },
)

/** Ephemeral thoughts that the runner posts, with the time by the test's clock. */
function recordThoughts(app: TestApp) {
  const thoughts: { at: number; body: string }[] = []
  const { fetch } = globalThis
  globalThis.fetch = (input, init) => {
    const at = app.clock.now().getTime()
    const sent = typeof init?.body === 'string' ? JSON.parse(init.body) : null
    if (sent?.ephemeral && sent.content.type === 'thought') thoughts.push({ at, body: sent.content.body })
    return fetch(input, init)
  }
  onTestFinished(() => {
    globalThis.fetch = fetch
  })
  return thoughts
}

/** Waits while the test's clock stands still. */
async function inRealTime(isTrue: () => unknown) {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('a line over 32 MB ends the agent', async ({ app }) => {
  const scene = await runnerScene(app, {
    script: { turns: [[{ long: 33 * 1024 * 1024 }, { waitFor: '/nowhere/at/all' }]] },
  })
  await scene.start()
  const { sessionId } = await scene.delegate()
  await scene.inState(sessionId, 'error')
  expect((await scene.last(sessionId)).content).toMatchObject({
    reason_code: 'agent_crashed',
    body: 'The agent sent a line of over 32 MB.',
  })
})

test(
  'secrets appear in no activity, plan, change or log, and the agent gets none of the app',
  verifies('run.secrets-redacted', 'run.agent-environment'),
  async ({ app }) => {
    const env = {
      MY_API_KEY: 'hunter2-hunter2',
      NOTE: 'a private note',
      BATON_DEMO: '0',
      BATON_X: 'y',
      PLAIN: 'visible-value',
    }
    const secret = 'hunter2-hunter2'
    const scene = await runnerScene(app, { env, flags: { redact: 'NOTE', debug: true } })
    const go = join(scene.state.directory, 'go')
    await scene.setScript({
      turns: [
        [
          { thought: 'the key is hunter2-' },
          { waitFor: go },
          { thought: 'hunter2 and a private note' },
          { say: 'It is hunter2-' },
          { say: 'hunter2.' },
          { update: { sessionUpdate: 'plan', entries: [{ content: `Use ${secret}`, status: 'pending' }] } },
          {
            update: {
              ...run('a'),
              rawInput: { command: `curl -H ${secret}` },
              rawOutput: `${scene.client.client_secret} ${'x'.repeat(5000)} ${secret}`,
            },
          },
          { stderr: `log ${secret}` },
          { write: ['key.txt', `${secret}\n`] },
          { say: `Found ${secret} and ${scene.client.webhook_secret}.` },
        ],
      ],
    })
    const runner = await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () =>
      (await scene.activities(sessionId)).some(
        ({ content }) => content.body === 'the key is '.trim() || content.body === 'the key is ',
      ),
    )
    await writeFile(go, '')
    await scene.inState(sessionId, 'complete')
    const said = JSON.stringify([
      await scene.activities(sessionId),
      await scene.session(sessionId),
      await scene.changes(sessionId),
    ])
    expect(said).toContain('[redacted]')
    expect((await scene.changes(sessionId)).files).toMatchObject([
      { path: 'key.txt', patch: null, omitted: 'redacted' },
    ])
    await runner.stop()
    const logged = `${scene.notes.join('\n')}${await readFile(scene.state.at('debug.log'), 'utf8')}`
    for (const text of [said, logged]) {
      for (const hidden of [secret, 'a private note', scene.client.client_secret, scene.client.webhook_secret])
        expect(text).not.toContain(hidden)
    }
    const environment = async () => (await scene.agentLog()).filter(({ started }) => started).at(-1).env
    const inherited = await environment()
    expect(Object.keys(inherited).filter((name) => name.startsWith('BATON_'))).toEqual([])
    expect(inherited).toMatchObject({ PLAIN: 'visible-value', MY_API_KEY: secret })

    Object.assign(env, {
      COPY: scene.client.client_secret,
      PLAIN: 'another-value',
      QUOTED: `secret="${scene.client.webhook_secret}"`,
    })
    await scene.setScript({ turns: [[{ say: 'Clean.' }]] })
    const withCopies = await scene.start()
    const another = await scene.delegate('Copies')
    await scene.inState(another.sessionId, 'complete')
    await withCopies.stop()
    const withoutCopies = await environment()
    expect(withoutCopies).toMatchObject({ PLAIN: 'another-value', MY_API_KEY: secret })
    const { client_secret, webhook_secret } = scene.client
    const holdsSecret = ([, value]: [string, string]) => value.includes(client_secret) || value.includes(webhook_secret)
    expect(Object.entries<string>(withoutCopies).filter(holdsSecret)).toEqual([])

    await scene.start({ 'clean-env': true, env: 'PLAIN' })
    const two = await scene.delegate('Two')
    await scene.inState(two.sessionId, 'complete')
    const clean = await environment()
    expect(
      Object.keys(clean).filter((name) => !['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'PLAIN'].includes(name)),
    ).toEqual([])
    expect(clean.PLAIN).toBe('another-value')
  },
)

test('reports cost and tokens, also over a restart', verifies('usage.reported-by-runner'), async ({ app }) => {
  const cost = (amount: number, currency = 'USD') => ({
    update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency } },
  })
  const scene = await runnerScene(app, {
    script: {
      capabilities: { sessionCapabilities: { resume: {} } },
      turns: [
        [
          cost(0.25),
          cost(0.5),
          { say: 'One.' },
          { stop: 'end_turn', usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12 } },
        ],
      ],
    },
  })
  const first = await scene.start()
  const { sessionId } = await scene.delegate()
  await scene.inState(sessionId, 'complete')
  const usage = async () => (await scene.session(sessionId)).usage
  expect(await usage()).toMatchObject({ cost_micros: 500_000, currency: 'USD', input_tokens: 10, output_tokens: 2 })
  await first.stop()
  await scene.setScript({
    capabilities: { sessionCapabilities: { resume: {} } },
    turns: [
      [cost(0.75), cost(9, 'EUR'), { stop: 'end_turn', usage: { inputTokens: 5, outputTokens: 1, totalTokens: 6 } }],
    ],
  })
  await scene.start()
  await scene.say(sessionId, 'More.')
  await scene.until(async () => (await scene.prompts()).length === 2)
  await scene.inState(sessionId, 'complete')
  expect(await usage()).toMatchObject({ cost_micros: 750_000, currency: 'USD', input_tokens: 15, output_tokens: 3 })
  await scene.setScript({ turns: [[{ say: 'No report.' }]] })
  const other = await scene.delegate('Other')
  await scene.inState(other.sessionId, 'complete')
  expect((await scene.session(other.sessionId)).usage).toBeNull()
})

test(
  'at a limit the runner pauses and asks, and continues when it was raised',
  verifies('usage.runner-pauses'),
  async ({ app }) => {
    const cost = { update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 2, currency: 'USD' } } }
    const scene = await runnerScene(app, {
      script: { turns: [[cost, { waitFor: '/nowhere/at/all' }], [{ say: 'On.' }]] },
    })
    const budget = (session_cost_micros: number) =>
      scene.owner.put(`/agent-apps/${scene.client.app.id}/budget`, {
        currency: 'USD',
        session_cost_micros,
        month_cost_micros: null,
        session_tokens: null,
        month_tokens: null,
      })
    expect((await budget(1_000_000)).status).toBe(200)
    await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.until(async () => (await scene.prompts()).length === 1)
    await scene.pass(10_000)
    await scene.inState(sessionId, 'awaitingInput')
    const question = await scene.last(sessionId)
    expect(question.content.body).toMatch(/budget for one session is reached[\s\S]*2 USD/)
    expect(question.signal_metadata?.options).toMatchObject([{ value: 'continue', label: 'Continue' }])
    expect((await scene.answer(sessionId, question, 'continue')).status).toBe(409)
    await budget(5_000_000)
    expect((await scene.answer(sessionId, question, 'continue')).status).toBe(201)
    await scene.until(async () => (await scene.last(sessionId)).content.body === 'On.')
    const sent = await scene.received('session/prompt')
    expect(sent[1].prompt[0].text).toBe('Continue')
    expect(new Set(sent.map((one) => one.sessionId)).size).toBe(1)
  },
)
