import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { temporary } from '../../test/baton.ts'
import { write } from '../../test/repository.ts'
import { allowedByDefault, allowing, chosen, decide, questionFor, rejecting } from './permission.ts'
import { describe, newCall } from './updates.ts'

const policy = { allow: allowedByDefault, refuse: [] as string[] }
const callOf = (update: object) => describe(newCall('a', 0), { toolCallId: 'a', ...update })
const options = [
  { optionId: 'x', name: 'Always', kind: 'allow_always' },
  { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  { optionId: 'n', name: 'No', kind: 'reject_once' },
  { optionId: 'z', name: 'Never', kind: 'reject_always' },
]

test('kinds decide, and refusing wins', verifies('run.permission-policy-kinds'), async () => {
  const directory = await temporary()
  const path = { locations: [{ path: 'a.ts' }] }
  const decided = (kind: string, by = policy) => decide(callOf({ kind, ...path }), by, directory)
  for (const kind of allowedByDefault) expect(await decided(kind)).toBe('allow')
  for (const kind of ['execute', 'fetch', 'other', 'switch_mode']) expect(await decided(kind)).toBe('ask')
  const other = { allow: ['execute', 'read'], refuse: ['read', 'fetch'] }
  expect(await Promise.all(['execute', 'edit', 'read', 'fetch'].map((kind) => decided(kind, other)))).toEqual([
    ...['allow', 'ask', 'refuse', 'refuse'],
  ])
  expect(await decide(callOf({}), policy, directory)).toBe('ask')
})

test(
  'an allowed kind with a path outside is asked for, also through a link',
  verifies('run.permission-outside-asked'),
  async () => {
    const directory = await temporary()
    const outside = await temporary()
    await write(directory, { 'src/a.ts': '' })
    await mkdir(join(outside, 'deep'))
    await symlink(outside, join(directory, 'link'))
    await symlink(join(directory, 'src'), join(directory, 'inner'))
    const at = (path: string, kind = 'edit') => decide(callOf({ kind, locations: [{ path }] }), policy, directory)
    for (const path of ['src/a.ts', 'new/file.ts', join(directory, 'b.ts'), 'inner/a.ts', 'a/../b', '.gitignore']) {
      expect(await at(path)).toBe('allow')
    }
    for (const path of [
      '../a',
      '/etc/passwd',
      'link/a',
      'link/deep/new',
      'src/../../a',
      '.git/config',
      '.git',
      'sub/.GIT/hooks/x',
    ]) {
      expect(await at(path)).toBe('ask')
    }
    for (const kind of ['edit', 'delete', 'move']) expect(await decide(callOf({ kind }), policy, directory)).toBe('ask')
    expect(await decide(callOf({ kind: 'read' }), policy, directory)).toBe('allow')
    const two = { kind: 'move', rawInput: { source: 'a', destination: '/tmp/b' } }
    expect(await decide(callOf(two), policy, directory)).toBe('ask')
    const many = { kind: 'read', locations: Array.from({ length: 1002 }, (_, n) => ({ path: `file-${n}` })) }
    expect(await decide(callOf(many), policy, directory)).toBe('ask')
  },
)

test('the question never offers what the agent would keep for good', verifies('run.permission-always-left-out'), () => {
  const call = callOf({ kind: 'execute', title: 'npm test', rawInput: { command: 'npm test\n```\nrm' } })
  const question = questionFor(call, options, (path) => path)
  expect(question.options.map(({ label, optionId }) => [label, optionId])).toEqual([
    ['Yes', 'y'],
    ['No', 'n'],
    ['Allow this for the session', 'y'],
  ])
  expect(question.body).toBe('Allow `run`?\n````\nnpm test\n```\nrm\n````')
  const always = options.filter(({ kind }) => kind.endsWith('always'))
  expect([allowing(always), rejecting(always)]).toEqual([null, null])
  expect([allowing(options), rejecting(options)]).toEqual(['y', 'n'])
})

test('an option is chosen by value, label or number', () => {
  const question = questionFor(callOf({ kind: 'execute', title: 'x' }), options, (path) => path)
  const by = (text: string, selected: string[] = []) => chosen(question, { text, selected })?.label ?? null
  expect(by('', ['option-2'])).toBe('No')
  expect(by(' yes ')).toBe('Yes')
  expect(by('3')).toBe('Allow this for the session')
  expect([by('4'), by('0'), by('Use yarn'), by('', ['option-9'])]).toEqual([null, null, null, null])
})
