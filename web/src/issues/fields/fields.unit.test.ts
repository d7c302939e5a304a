import { api, type Issue } from '@baton/protocol'
import { expect, test } from 'vitest'
import { none } from '../../ui/picker.tsx'
import { presetFor } from '../create/create-preset.ts'
import { blankDraft } from '../create/draft.ts'
import type { Directory } from './directory.ts'
import { doneText, nameOf, optionsOf } from './field.tsx'
import { fields, fieldsIn, filterFields } from './fields.tsx'
import { filterOf } from './filter-and-group.ts'
import { issueGrouper } from './group-issues.ts'

const id = (prefix: string, letter: string) => `${prefix}_${letter.repeat(26)}`
const [me, agent, team, other] = [id('usr', 'a'), id('usr', 'b'), id('team', 'a'), id('team', 'b')]
const [label, project, milestone, cycle] = [id('lbl', 'a'), id('prj', 'a'), id('mil', 'a'), id('cyc', 'a')]

const byId = <Row extends { id: string }>(...rows: Row[]) => new Map(rows.map((row) => [row.id, row]))
const directory = {
  me,
  complete: true,
  people: byId(
    { id: me, display_name: 'Mona', user_kind: 'human' },
    { id: agent, display_name: 'Robot', user_kind: 'application' },
  ),
  labels: byId({ id: label, name: 'bug' }),
  projects: byId({ id: project, title: 'Spring release' }),
  milestones: byId({ id: milestone, name: 'Beta', project_id: project }),
  cycles: byId({ id: cycle, name: 'Cycle 1', team_id: team }),
  teams: byId({ id: team, key: 'ENG', name: 'Engineering' }, { id: other, key: 'DES', name: 'Design' }),
  initiatives: byId(),
} as unknown as Directory
const { properties } = api.updateIssue.body as { properties: Record<string, { enum?: unknown[] }> }
const issue = {
  ...blankDraft,
  project_id: project,
  id: id('iss', 'a'),
  code: 'ENG-4',
  team_id: team,
  created_at: '2026-05-04T12:00:00Z',
  updated_at: '2026-05-04T12:00:00Z',
  reporter_id: me,
  sort_order: 0,
}
const issues = [issue as unknown as Issue]
const all = Object.values(fields)

test.each(filterFields)('the filter $id has options, and finds an issue by the value it reads', (field) => {
  expect([...optionsOf(field, directory), ...(field.conditions?.options ?? [])].length).toBeGreaterThan(0)
  const [read = none] = field.read(issues[0] as Issue)
  const value = field.conditions ? read.slice(0, 10) : read
  const passes = (value: string) => filterOf({ [field.id]: value }, directory)(issues[0] as Issue)
  expect(passes(field.toUrl?.(value, directory) ?? value)).toBe(true)
  expect(passes('other')).toBe(false)
  expect(passes(`!${field.toUrl?.(value, directory) ?? value}`)).toBe(false)
  expect(passes('!other')).toBe(true)
})

test('filters have any of several values, or none of them', () => {
  const passes = (search: object) => filterOf(search, directory)(issues[0] as Issue)
  expect([passes({ status: 'todo,backlog' }), passes({ status: '!todo,backlog' })]).toEqual([true, false])
  expect([passes({ status: 'todo,done' }), passes({ status: '!todo,done' })]).toEqual([false, true])
  expect([passes({ team: 'DES,ENG' }), passes({ team: '!DES' }), passes({ reporter: '!me' })]).toEqual([
    true,
    true,
    false,
  ])
  expect([passes({ label: 'none' }), passes({ label: '!none' })]).toEqual([true, false])
})

test('a private issue counts as assigned to its reporter, and is not hidden from those without an assignee', () => {
  const passes = (assignee: string, change: object) =>
    filterOf({ assignee }, directory)({ ...(issues[0] as Issue), ...change })
  const mine = { personal: true, assignee_id: null }
  expect([passes('me', mine), passes(me, mine), passes('none', mine), passes('!me', mine)]).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(passes('me', { personal: false, assignee_id: null })).toBe(false)
})

const dayIn = (days: number) => {
  const date = new Date()
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, 12).toISOString()
}

test.each([
  ['overdue', -1, true],
  ['overdue', 0, false],
  ['today', 0, true],
  ['today', 1, false],
  ['7d', 0, true],
  ['7d', 7, true],
  ['7d', 8, false],
  ['7d', -1, false],
  ['before-2026-05-04', '2026-05-03T12:00:00Z', true],
  ['before-2026-05-04', '2026-05-04T12:00:00Z', false],
  ['after-2026-05-04', '2026-05-05T12:00:00Z', true],
  ['after-2026-05-04', '2026-05-04T12:00:00Z', false],
  ['2026-05-04', '2026-05-04T12:00:00Z', true],
  ['2026-05-04', '2026-05-05T12:00:00Z', false],
  ['none', null, true],
  ['none', 0, false],
  ['overdue', null, false],
  ['nonsense', 0, false],
] as const)('the due date filter %s with a date of %s is %s', (due, date, passes) => {
  const due_date = typeof date === 'number' ? dayIn(date) : date
  expect(filterOf({ due }, directory)({ ...(issues[0] as Issue), due_date })).toBe(passes)
})

test('finished work is not overdue, and a time in the past is within the last days', () => {
  const passes = (search: object, change: object) => filterOf(search, directory)({ ...(issues[0] as Issue), ...change })
  expect(passes({ due: 'overdue' }, { due_date: dayIn(-1), status: 'done' })).toBe(false)
  expect(passes({ created: '7d' }, { created_at: dayIn(-7) })).toBe(true)
  expect(passes({ created: '7d' }, { created_at: dayIn(-8) })).toBe(false)
  expect(passes({ updated: 'today' }, { updated_at: dayIn(0) })).toBe(true)
})

test.each(fieldsIn('group'))('issues are grouped by $id', (field) => {
  const group = issueGrouper({
    passes: () => true,
    grouping: field.id,
    sorting: 'newest',
    board: false,
    directory,
  })
  const { groups } = group(issues)
  expect(groups.map(({ value }) => nameOf(field, value, directory))).toEqual([
    nameOf(field, field.read(issue)[0] ?? none, directory),
  ])
})

test.each(all)('the API accepts every change of $id, which has text for the message and the history', (field) => {
  const values = [
    ...(field.none && field.clearable === undefined ? [none] : []),
    ...field.options(directory, issue).map(({ value }) => value),
    ...(field.id === 'due' ? ['2026-12-24T12:00:00Z'] : []),
    ...(field.id === 'estimate' ? ['4'] : []),
  ]
  expect(values).not.toEqual([])
  for (const value of values) {
    const change = field.change(issue, value)
    expect(Object.keys(change)).toContain(field.key)
    for (const [key, sent] of Object.entries(change)) {
      expect(properties).toHaveProperty(key)
      if (properties[key]?.enum) expect(properties[key].enum).toContain(sent)
    }
    expect(doneText(field, 'ENG-4', value, nameOf(field, value, directory))).toMatch(/^ENG-4/)
    const record = { from: field.remove ? ['before'] : 'before', to: change[field.key] }
    expect([field.history(record, String)].flat().join()).not.toBe('')
  }
})

test('ids, keys and shortcuts are unique', () => {
  const unique = (values: unknown[]) => expect(new Set(values).size).toBe(values.length)
  unique(all.map(({ key }) => key))
  unique(all.flatMap(({ keys }) => keys ?? []))
  for (const place of ['panel', 'form', 'filter', 'group', 'bulk'] as const) {
    unique(fieldsIn(place).map(({ at }) => at[place]))
  }
})

test('a change of project or team names what it clears, so that Undo restores it', () => {
  expect(fields.project.change(issue, none)).toEqual({ project_id: null, milestone_id: null })
  expect(fields.project.change(issue, project)).toEqual({ project_id: project })
  expect(fields.team.change(issue, other)).toEqual({ team_id: other, personal: false, cycle_id: null })
  expect(fields.team.change(issue, team)).toEqual({ team_id: team })
})

test('the cycle menu lists ended cycles last and says when they ended', () => {
  const cycles = byId(
    { id: 'old', name: 'Week 1', team_id: team, starts_at: '2020-05-01T12:00:00Z', ends_at: '2020-05-03T12:00:00Z' },
    { id: 'now', name: 'Week 2', team_id: team, starts_at: '2020-05-04T12:00:00Z', ends_at: '2999-05-04T12:00:00Z' },
    { id: 'other', name: 'Week 3', team_id: other, starts_at: null, ends_at: '2020-05-03T12:00:00Z' },
  )
  const hints = (subject?: typeof issue) =>
    fields.cycle
      .options({ ...directory, cycles } as unknown as Directory, subject)
      .map(({ label, hint }) => [label, hint])
  expect(hints(issue)).toEqual([
    ['Week 2', 'May 4, 2020 – May 4, 2999'],
    ['Week 1', 'Ended May 3, 2020'],
  ])
  expect(hints()).toEqual([
    ['Week 2', 'Engineering'],
    ['Week 1', 'Engineering · Ended May 3, 2020'],
    ['Week 3', 'Design · Ended May 3, 2020'],
  ])
})

test('a label replaces the one of the column it is dragged from', () => {
  const labelled = { ...issue, label_ids: ['x', 'y'] }
  expect(fields.label.change(labelled, label, 'x')).toEqual({ label_ids: ['y', label] })
  expect(fields.label.change(labelled, none, 'x')).toEqual({ label_ids: ['y'] })
})

test('messages name the issues and the value', () => {
  const message = (field: keyof typeof fields, value: string) =>
    doneText(fields[field], 'ENG-4', value, nameOf(fields[field], value, directory))
  expect([
    message('status', 'done'),
    message('priority', 'urgent'),
    message('priority', 'no_priority'),
    message('assignee', me),
    message('assignee', none),
    message('project', project),
    message('label', label),
    message('due', none),
    message('team', other),
  ]).toEqual([
    'ENG-4 moved to Done',
    'ENG-4: urgent priority',
    'ENG-4: no priority',
    'ENG-4 assigned to Mona',
    'ENG-4 unassigned',
    'ENG-4: Spring release',
    'ENG-4: bug',
    'ENG-4: no due date',
    'ENG-4 moved to Design',
  ])
})

test('an id that is not listed has a name as soon as the lists are read', () => {
  expect(nameOf(fields.assignee, 'gone', directory)).toBe('A former member')
  expect(nameOf(fields.assignee, 'gone', { ...directory, complete: false })).toBe('…')
})

test('a new issue starts with the filters that have one value', () => {
  const search = {
    team: 'ENG',
    status: 'todo',
    priority: 'low,high',
    assignee: 'me',
    label,
    type: 'unknown',
    project: `!${project}`,
    due: 'today',
    reporter: me,
  }
  expect(presetFor(search, directory)).toEqual({ team_id: team, status: 'todo', assignee_id: me, label_ids: [label] })
})
