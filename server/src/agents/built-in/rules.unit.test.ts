import type { Issue } from '@baton/protocol'
import { expect, test } from 'vitest'
import { formatFindings } from './answer.ts'
import { missingFacts } from './missing-facts.ts'
import { summaryOf } from './project.ts'
import { type RelatedIssue, relationNotes } from './relations.ts'
import { readIntent } from './strategy.ts'
import { TextSimilarity, wordForStem } from './text-similarity.ts'

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

/** The names of the missing facts. */
const lacks = (fields: Partial<Issue>, comments: string[] = []) =>
  missingFacts(issue(fields), comments).map((fact) => /\*\*(.+?)\*\*/.exec(fact)?.[1])

test('a bug needs steps, expected and actual result, and environment', () => {
  expect(lacks({})).toEqual(['Description', 'Steps', 'Expected and actual result', 'Version or environment'])
  expect(lacks({ description: 'Steps: pay.\nExpected: an order. Seen: an error.\nShop 4.12' })).toEqual([])
  expect(lacks({ description: '## Steps to reproduce\n1. Pay' })).toEqual([
    'Expected and actual result',
    'Version or environment',
  ])
  expect(lacks({ description: 'Steps: pay twice.' }, ['It should be one order', 'Chrome on Windows'])).toEqual([])
  expect(lacks({ description: 'Steps: pay. It should work. iOS', priority: 'no_priority' })).toEqual(['Priority'])
})

test('a feature or story needs an audience and acceptance criteria', () => {
  for (const type of ['feature', 'story'] as const) {
    expect(lacks({ type, description: 'A button.' })).toEqual(['Audience', 'Acceptance criteria'])
    expect(lacks({ type, description: 'As a customer I want a button.' })).toEqual(['Acceptance criteria'])
    expect(lacks({ type, description: 'Customers ask.\n\n**Acceptance**\n- it is there' })).toEqual([])
    expect(lacks({ type, description: 'For users.\n- [ ] it is there' })).toEqual([])
  }
})

test('a task needs an outcome, an urgent task a deadline, and a date in the text a due date', () => {
  expect(lacks({ type: 'task', priority: 'low' })).toEqual(['Description', 'Outcome'])
  expect(lacks({ type: 'task', description: 'The old library is no longer maintained, so we move on.' })).toEqual([
    'Deadline',
  ])
  const text = 'The old library is no longer maintained after June.'
  expect(lacks({ type: 'task', priority: 'low', description: text })).toEqual(['Due date'])
  expect(lacks({ type: 'task', description: text, due_date: '2026-06-30T00:00:00.000Z' })).toEqual([])
})

const other = (code: string, status: Issue['status'], assignee: string | null = null): RelatedIssue => ({
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
  timeZone: 'UTC',
  blockers: [],
  blocked: [],
  parent: null,
  children: [],
}

test('notes name blockers, relatives, a missed due date, a missing assignee and inactivity', () => {
  expect(relationNotes(alone, now, now)).toEqual([])
  expect(
    relationNotes(
      {
        ...alone,
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
    'Blocked by [A-1 Title of A-1](http://x/issue/A-1) (in progress, Ann).',
    'No longer blocked by [A-2 Title of A-2](http://x/issue/A-2), which is done.',
    'Blocks [A-3 Title of A-3](http://x/issue/A-3).',
    'Its parent [A-5 Title of A-5](http://x/issue/A-5) is done. Is this issue still needed?',
    '1 of 2 sub-issues are done. Open: [A-7 Title of A-7](http://x/issue/A-7).',
    'Overdue: it was due on 2026-02-01.',
    'Started, but unassigned.',
    'No activity for 59 days.',
  ])
})

test('an issue is overdue when its day has ended in the time zone of the assignee', () => {
  const issue = { ...alone.issue, due_date: '2026-03-01T12:00:00.000Z' }
  const notes = (timeZone: string, moment: string) => {
    const at = new Date(moment)
    return relationNotes({ ...alone, issue, timeZone }, at, at)
  }
  const overdue = ['Overdue: it was due on 2026-03-01.']
  expect(notes('UTC', '2026-03-01T23:59:59.999Z')).toEqual([])
  expect(notes('UTC', '2026-03-02T00:00:00.000Z')).toEqual(overdue)
  expect(notes('America/Los_Angeles', '2026-03-02T07:59:59.999Z')).toEqual([])
  expect(notes('America/Los_Angeles', '2026-03-02T08:00:00.000Z')).toEqual(overdue)
  expect(notes('Asia/Tokyo', '2026-03-01T14:59:59.999Z')).toEqual([])
  expect(notes('Asia/Tokyo', '2026-03-01T15:00:00.000Z')).toEqual(overdue)
})

test('a title cannot break out of its link', () => {
  const [note] = relationNotes(
    { ...alone, blockers: [{ ...other('A-1', 'todo'), title: 'x](http://evil) [y' }] },
    now,
    now,
  )
  expect(note).toContain('[A-1 x\\](http://evil) \\[y](http://x/issue/A-1)')
})

test('issues are similar by the rare words that they share', () => {
  const words = (title: string, description = '') => ({
    title: title.split(' '),
    description: description.split(' ').filter(Boolean),
  })
  const cart = words('app lose cart offlin')
  const same = words('cart empti lost connect', 'app cart bag')
  const search = words('app search accent')
  const likeness = new TextSimilarity([cart, same, search, words('app start'), words('app icon')])
  expect(likeness.between(cart, same)).toBeGreaterThan(0.38)
  expect(likeness.between(cart, search)).toBeLessThan(0.22)
  expect(likeness.between(cart, words('price'))).toBe(0)
  expect(likeness.shared(cart, same).sort()).toEqual(['app', 'cart', 'connect', 'lose'])
  expect(likeness.shared(cart, same).at(-1)).toBe('app')
  expect(wordForStem('deliveri', 'Deliveries are late')).toBe('deliveries')
  expect(wordForStem('lose', 'a lost cart')).toBe('lost')
  expect(wordForStem('cart', 'nothing of it')).toBeUndefined()
})

test('reads the intent from a selected option or from the text', () => {
  const wrote = (body: string) => readIntent({ content: { type: 'prompt', body }, signal_metadata: null } as never)
  const chose = (value: string) => readIntent({ content: {}, signal_metadata: { selected: [value] } } as never)
  expect(chose('iss_1')).toEqual({ kind: 'link', key: 'iss_1' })
  expect(chose('not_a_duplicate')).toEqual({ kind: 'not a duplicate' })
  expect(wrote('link eng-12')).toEqual({ kind: 'link', key: 'ENG-12' })
  expect(wrote('Yes, same as ENG-12')).toEqual({ kind: 'link', key: 'ENG-12' })
  expect(wrote('It is not a duplicate of ENG-12')).toEqual({ kind: 'not a duplicate' })
  expect(wrote('please look again')).toEqual({ kind: 'review' })
  expect(wrote('What is the meaning of this?')).toEqual({ kind: 'other' })
})

test('an answer contains only sections with findings', () => {
  const nothing = { duplicates: [], related: [], missing: [], notes: [] }
  expect(formatFindings(nothing)).toBe('Ready to start: no duplicates, no missing facts, no blockers.')
  const duplicate = { ...other('A-1', 'todo', 'Ann'), kind: 'duplicate' as const, shared: ['swiss', 'card'] }
  expect(formatFindings({ ...nothing, duplicates: [duplicate], missing: ['**Steps**: how?'] })).toBe(
    '**Likely duplicate**\n- [A-1 Title of A-1](http://x/issue/A-1) · todo · Ann · shared words: swiss, card\n\n' +
      'If it is not a duplicate, it lacks: steps.\n\n' +
      "Write `link A-1` and I'll link both. Closing one is up to you.",
  )
})

test('a project summary counts issues by status and lists overdue, blocked and unassigned ones', () => {
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
      'The target date, 2026-02-01, has passed.',
      '',
      '**Overdue** (1)',
      '- [A-3 Title of A-3](http://x/issue/A-3)',
      '',
      '**Blocked** (1)',
      '- [A-2 Title of A-2](http://x/issue/A-2): blocked by A-9',
      '',
      '**Started, unassigned** (1)',
      '- [A-2 Title of A-2](http://x/issue/A-2)',
    ].join('\n'),
  )
})
