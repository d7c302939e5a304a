import type { Issue } from '@baton/protocol'
import { expect, test } from 'vitest'
import { answerOf } from './answer.ts'
import { asWritten, Likeness } from './likeness.ts'
import { wishOf } from './mind.ts'
import { missingFacts } from './missing.ts'
import { summaryOf } from './project.ts'
import { type Other, relationNotes } from './relations.ts'

const issue = (fields: Partial<Issue>) => ({
  type: 'bug' as const,
  title: 'It breaks',
  description: '',
  priority: 'high' as const,
  due_date: null,
  milestone_id: null,
  cycle_id: null,
  ...fields,
})

/** The names of what is missing. */
const lacks = (fields: Partial<Issue>, said: string[] = []) =>
  missingFacts(issue(fields), said).map((fact) => /\*\*(.+?)\*\*/.exec(fact)?.[1])

test('a bug needs steps, what was expected, and where it happens', () => {
  expect(lacks({})).toEqual(['A description', 'Steps', 'Expected and seen', 'Version or environment'])
  expect(lacks({ description: 'Steps: pay.\nExpected: an order. Seen: an error.\nShop 4.12' })).toEqual([])
  expect(lacks({ description: '## Steps to reproduce\n1. Pay' })).toEqual([
    'Expected and seen',
    'Version or environment',
  ])
  expect(lacks({ description: 'Steps: pay twice.' }, ['It should be one order', 'Chrome on Windows'])).toEqual([])
  expect(lacks({ description: 'Steps: pay. It should work. iOS', priority: 'no_priority' })).toEqual(['Priority'])
})

test('a feature or story needs somebody it is for, and how to tell that it is finished', () => {
  for (const type of ['feature', 'story'] as const) {
    expect(lacks({ type, description: 'A button.' })).toEqual(['Who for', 'Acceptance'])
    expect(lacks({ type, description: 'As a customer I want a button.' })).toEqual(['Acceptance'])
    expect(lacks({ type, description: 'Customers ask.\n\n**Acceptance**\n- it is there' })).toEqual([])
    expect(lacks({ type, description: 'For users.\n- [ ] it is there' })).toEqual([])
  }
})

test('a task needs an outcome, an urgent one a time, and a time in the text belongs into its field', () => {
  expect(lacks({ type: 'task', priority: 'low' })).toEqual(['A description', 'Outcome'])
  expect(lacks({ type: 'task', description: 'The old library is no longer mended, so we move on.' })).toEqual([
    'By when',
  ])
  const text = 'The old library is no longer mended after June.'
  expect(lacks({ type: 'task', priority: 'low', description: text })).toEqual(['Due date'])
  expect(lacks({ type: 'task', description: text, due_date: '2026-06-30T00:00:00.000Z' })).toEqual([])
})

const other = (code: string, status: Issue['status'], assignee: string | null = null): Other => ({
  id: `iss_${code}`,
  code,
  title: `Title of ${code}`,
  status,
  url: `http://x/issue/${code}`,
  assignee,
})
const now = new Date('2026-03-02T09:00:00.000Z')
const alone = {
  issue: { status: 'todo' as const, due_date: null, assignee_id: 'usr_1', updated_at: now.toISOString() },
  blockers: [],
  blocked: [],
  parent: null,
  children: [],
}

test('it says what is in the way, what no longer is, and what was forgotten', () => {
  expect(relationNotes(alone, now, now)).toEqual([])
  expect(
    relationNotes(
      {
        issue: { ...alone.issue, status: 'in_progress', assignee_id: null, due_date: '2026-02-01T00:00:00.000Z' },
        blockers: [other('A-1', 'in_progress', 'Ann'), other('A-2', 'done')],
        blocked: [other('A-3', 'todo'), other('A-4', 'done')],
        parent: other('A-5', 'done'),
        children: [other('A-6', 'done'), other('A-7', 'todo')],
      },
      new Date('2026-01-02T09:00:00.000Z'),
      now,
    ),
  ).toEqual([
    'Blocked by [A-1 Title of A-1](http://x/issue/A-1): in progress, Ann.',
    '[A-2 Title of A-2](http://x/issue/A-2) blocked it and is done: the way is free.',
    'Holds up [A-3 Title of A-3](http://x/issue/A-3).',
    'Its parent [A-5 Title of A-5](http://x/issue/A-5) is done: is this still wanted?',
    '1 of 2 sub-issues are done; open: [A-7 Title of A-7](http://x/issue/A-7).',
    'Due since 2026-02-01.',
    'Under way, with nobody assigned.',
    'Before this, nobody had touched it for 59 days.',
  ])
})

test('a title cannot break out of its link', () => {
  const [note] = relationNotes(
    { ...alone, blockers: [{ ...other('A-1', 'todo'), title: 'x](http://evil) [y' }] },
    now,
    now,
  )
  expect(note).toContain('[A-1 x\\](http://evil) \\[y](http://x/issue/A-1)')
})

test('issues are alike by the rare words that they share', () => {
  const words = (title: string, description = '') => ({
    title: title.split(' '),
    description: description.split(' ').filter(Boolean),
  })
  const cart = words('app lose cart offlin')
  const same = words('cart empti lost connect', 'app cart bag')
  const search = words('app search accent')
  const likeness = new Likeness([cart, same, search, words('app start'), words('app icon')])
  expect(likeness.between(cart, same)).toBeGreaterThan(0.38)
  expect(likeness.between(cart, search)).toBeLessThan(0.22)
  expect(likeness.between(cart, words('price'))).toBe(0)
  expect(likeness.shared(cart, same).sort()).toEqual(['app', 'cart', 'connect', 'lose'])
  expect(likeness.shared(cart, same).at(-1)).toBe('app')
  expect(asWritten('deliveri', 'Deliveries are late')).toBe('deliveries')
  expect(asWritten('lose', 'a lost cart')).toBe('lost')
  expect(asWritten('cart', 'nothing of it')).toBeUndefined()
})

test('people choose, or say it in plain words', () => {
  const said = (body: string) => wishOf({ content: { type: 'prompt', body }, signal_metadata: null } as never)
  const chose = (value: string) => wishOf({ content: {}, signal_metadata: { selected: [value] } } as never)
  expect(chose('iss_1')).toEqual({ kind: 'link', key: 'iss_1' })
  expect(chose('not_a_duplicate')).toEqual({ kind: 'not a duplicate' })
  expect(said('link eng-12')).toEqual({ kind: 'link', key: 'ENG-12' })
  expect(said('Yes, same as ENG-12')).toEqual({ kind: 'link', key: 'ENG-12' })
  expect(said('It is not a duplicate of ENG-12')).toEqual({ kind: 'not a duplicate' })
  expect(said('please look again')).toEqual({ kind: 'look' })
  expect(said('What is the meaning of this?')).toEqual({ kind: 'other' })
})

test('an answer has what was found and no more', () => {
  const nothing = { duplicates: [], related: [], missing: [], notes: [] }
  expect(answerOf(nothing)).toBe('Ready to be worked on: no duplicate, nothing missing, nothing in the way.')
  const duplicate = { ...other('A-1', 'todo', 'Ann'), is: 'duplicate' as const, shared: ['swiss', 'card'] }
  expect(answerOf({ ...nothing, duplicates: [duplicate], missing: ['**Steps**: how?'] })).toBe(
    '**Likely duplicate**\n- [A-1 Title of A-1](http://x/issue/A-1) · todo · Ann · both say: swiss, card\n\n' +
      'If it is not the same, it lacks: steps.\n\n' +
      'Write `link A-1` and I note it on both. Closing one is up to you.',
  )
})

test('a project is summed up by status, with what somebody should look at', () => {
  const row = (code: string, status: Issue['status'], more = {}) => ({
    ...other(code, status),
    overdue: false,
    blockers: [],
    started: status === 'in_progress',
    ...more,
  })
  const project = { title: 'Pause', target_date: '2026-02-01T00:00:00.000Z' }
  expect(summaryOf(project, [], now)).toBe('**Pause** has no issues yet.')
  const rows = [
    row('A-1', 'done', { assignee: 'Ann' }),
    row('A-2', 'in_progress', { blockers: ['A-9'] }),
    row('A-3', 'todo', { assignee: 'Ann', overdue: true }),
  ]
  expect(summaryOf(project, rows, now)).toBe(
    [
      '**Pause**: 3 issues · 1 todo · 1 in progress · 1 done',
      'Its target date was 2026-02-01.',
      '',
      '**Overdue** (1)',
      '- [A-3 Title of A-3](http://x/issue/A-3)',
      '',
      '**Blocked** (1)',
      '- [A-2 Title of A-2](http://x/issue/A-2) waits for A-9',
      '',
      '**Under way, nobody assigned** (1)',
      '- [A-2 Title of A-2](http://x/issue/A-2)',
    ].join('\n'),
  )
})
