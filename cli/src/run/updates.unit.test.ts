import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { countLines, splitCommand, withoutMiddle } from './text.ts'
import { type Said, Transcript, tokensOf } from './updates.ts'

const worktree = '/home/ann/.local/state/baton/run/host/name/worktrees/0a1b2c3d'

/** What the updates become. */
function said(...updates: unknown[]): Said[] {
  const transcript = new Transcript([worktree])
  return updates.flatMap((update) => transcript.add(update, 0))
}
const chunk = (kind: string, text: string) => ({ sessionUpdate: kind, content: { type: 'text', text } })
const actions = (all: Said[]) => all.flatMap((one) => (one.kind === 'action' ? [one.action] : []))

test(
  'each tool call becomes one action, also one that only an update announced',
  verifies('run.tool-call-one-lasting-action'),
  () => {
    const call = { toolCallId: 'a', kind: 'execute', rawInput: { command: 'npm test' } }
    const done = {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'a',
      status: 'completed',
      rawOutput: { output: 'ok' },
    }
    const only = {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'b',
      kind: 'read',
      status: 'failed',
      locations: [{ path: 'a.ts' }],
    }
    expect(actions(said({ sessionUpdate: 'tool_call', status: 'in_progress', ...call }, done, done, only))).toEqual([
      { action: 'run', parameter: 'npm test', result: 'ok' },
      { action: 'read', parameter: 'a.ts', result: 'Failed.' },
    ])
  },
)

test(
  'an action names its file relative to the worktree, and a diff wins over text',
  verifies('run.action-shape'),
  () => {
    const [edit] = actions(
      said({
        sessionUpdate: 'tool_call',
        toolCallId: 'a',
        kind: 'edit',
        title: 'Edit',
        status: 'completed',
        locations: [{ path: `${worktree}/src/a.ts` }],
        content: [
          { type: 'content', content: { type: 'text', text: 'edited' } },
          { type: 'diff', path: `${worktree}/src/a.ts`, oldText: 'a\nb\nc\n', newText: 'a\nx\ny\nz\nc\n' },
        ],
      }),
    )
    expect(edit).toEqual({ action: 'edit', parameter: 'src/a.ts', result: '+3 -1' })
    const [long] = actions(
      said({
        sessionUpdate: 'tool_call',
        toolCallId: 'a',
        kind: 'other',
        name: 'lookup',
        title: 't'.repeat(900),
        status: 'completed',
        rawOutput: `first ${'x'.repeat(9000)} last`,
      }),
    )
    expect(long?.action).toBe('lookup')
    expect(long?.parameter).toHaveLength(500)
    expect(long?.result.length).toBeLessThanOrEqual(4000)
    expect(long?.result).toMatch(/^first x+\n… \d+ characters left out …\nx+ last$/)
  },
)

test(
  'text before a tool call becomes a thought, text after the last one is kept',
  verifies('run.response-is-last-text'),
  () => {
    const transcript = new Transcript([worktree])
    const call = { sessionUpdate: 'tool_call', toolCallId: 'a', kind: 'read', status: 'completed' }
    const all = [chunk('agent_message_chunk', 'Let me '), chunk('agent_message_chunk', 'look.'), call].flatMap((one) =>
      transcript.add(one, 0),
    )
    expect(all[0]).toEqual({ kind: 'thought', body: 'Let me look.' })
    transcript.add(chunk('agent_message_chunk', 'Done.'), 0)
    expect(transcript.message).toBe('Done.')
  },
)

test(
  'a plan has mapped states and is cut to the limits',
  verifies('run.plan-from-plan-update', 'run.plan-from-todos'),
  () => {
    const entries = [
      { content: 'One', status: 'completed', priority: 'high' },
      { content: 'y'.repeat(600), status: 'in_progress' },
      ...Array.from({ length: 60 }, () => ({ content: 'more', status: 'pending' })),
    ]
    const [plan] = said({ sessionUpdate: 'plan', entries })
    if (plan?.kind !== 'plan') throw new Error('no plan')
    expect(plan.items).toHaveLength(50)
    expect(plan.items[0]).toEqual({ content: 'One', status: 'completed' })
    expect(plan.items[1]?.status).toBe('inProgress')
    expect(plan.items[1]?.content).toHaveLength(500)
    const todos = [{ content: 'Two', status: 'cancelled' }]
    expect(said({ sessionUpdate: 'tool_call', toolCallId: 'a', rawInput: { todos } })).toEqual([
      { kind: 'plan', items: [{ content: 'Two', status: 'canceled' }] },
    ])
  },
)

test('unknown and malformed updates are ignored', verifies('run.unknown-messages-ignored'), () => {
  const odd = [
    ...[
      null,
      7,
      'text',
      [],
      {},
      { sessionUpdate: 'new_kind' },
      { sessionUpdate: 'tool_call' },
      { sessionUpdate: 'plan' },
    ],
    { sessionUpdate: 'agent_message_chunk' },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'image' } },
    { sessionUpdate: 'usage_update', cost: { amount: -1, currency: 'USD' } },
    { sessionUpdate: 'usage_update', cost: { amount: 'many', currency: 'USD' } },
  ]
  expect(said(...odd)).toEqual([])
  const call = {
    sessionUpdate: 'tool_call',
    toolCallId: 'a',
    kind: 9,
    title: {},
    status: 'completed',
    content: 'x',
    locations: [7],
    rawInput: [],
  }
  expect(actions(said(call))).toEqual([{ action: 'tool', parameter: '', result: '' }])
})

test('the tokens of a turn come from the answer to its prompt', () => {
  expect(tokensOf({ stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 3 } })).toEqual({
    input: 10,
    output: 3,
  })
  expect(tokensOf({ stopReason: 'end_turn' })).toBeNull()
  expect(tokensOf({ usage: { inputTokens: -1, outputTokens: 'x' } })).toBeNull()
})

test('texts are cut, lines counted and commands split', () => {
  expect(withoutMiddle('short', 100)).toBe('short')
  expect([...withoutMiddle('😀'.repeat(300), 100)].length).toBeLessThanOrEqual(100)
  expect(countLines('', 'a\nb\n')).toEqual({ added: 2, removed: 0 })
  expect(countLines('a\nb\nc\nd', 'b\nx\nd')).toEqual({ added: 1, removed: 2 })
  expect(splitCommand(`claude -p "two words" 'it''s' a\\ b ""`)).toEqual([
    'claude',
    '-p',
    'two words',
    'its',
    'a b',
    '',
  ])
})
