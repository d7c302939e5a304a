import type { IssueTemplate } from '@baton/protocol'
import { describe, expect, test } from 'vitest'
import { applyTemplate, defaultTemplate, templatesFor } from './apply-template.ts'
import { blankDraft } from './draft.ts'

const template = (fields: Partial<IssueTemplate>): IssueTemplate => ({
  id: 'tpl_1',
  team_id: null,
  name: 'Bug report',
  title: 'Bug: ',
  description: '## Steps',
  priority: 'high',
  type: 'bug',
  label_ids: ['lbl_1'],
  default: false,
  created_at: '2026-03-02T09:00:00.000Z',
  updated_at: '2026-03-02T09:00:00.000Z',
  ...fields,
})
const bug = template({})
const idea = template({ id: 'tpl_2', title: '', description: 'Why?', priority: 'low', type: 'feature', label_ids: [] })
const all = [bug, idea]

describe('a template', () => {
  test('fills an empty form', () => {
    expect(applyTemplate(blankDraft, bug, null, all)).toEqual({
      title: 'Bug: ',
      description: '## Steps',
      priority: 'high',
      type: 'bug',
      label_ids: ['lbl_1'],
    })
  })

  test('leaves typed text and chosen fields', () => {
    const draft = { ...blankDraft, title: 'It breaks', priority: 'urgent' as const }
    expect(applyTemplate(draft, bug, null, all)).toMatchObject({
      title: 'It breaks',
      description: '## Steps',
      priority: 'urgent',
      type: 'bug',
    })
  })

  test('is replaced by another, or by none', () => {
    const filled = { ...blankDraft, ...applyTemplate(blankDraft, bug, null, all) }
    expect(applyTemplate(filled, idea, bug, all)).toEqual({
      title: '',
      description: 'Why?',
      priority: 'low',
      type: 'feature',
      label_ids: [],
    })
    const edited = { ...filled, title: 'Bug: the door', type: 'task' as const }
    expect(applyTemplate(edited, null, bug, all)).toMatchObject({
      title: 'Bug: the door',
      description: '',
      priority: 'no_priority',
      type: 'task',
    })
  })
})

test('the default of the team comes before that of the workspace', () => {
  const own = template({ id: 'tpl_3', team_id: 'team_1', default: true })
  const other = template({ id: 'tpl_4', team_id: 'team_2', default: true })
  const shared = template({ id: 'tpl_5', default: true })
  const pick = (team_id: string | null, personal = false) =>
    defaultTemplate(templatesFor([shared, other, own, bug], { team_id, personal }))
  expect(pick('team_1')).toBe(own)
  expect(pick('team_3')).toBe(shared)
  expect(pick('team_1', true)).toBe(shared)
  expect(defaultTemplate(templatesFor([other, bug], { team_id: 'team_1', personal: false }))).toBeNull()
})
