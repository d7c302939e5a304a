import type { InboxEntry } from '@baton/protocol'
import { expect, test } from 'vitest'
import { type Group, groupsOf, linkOf } from './entries.ts'

let count = 0
const entry = (kind: InboxEntry['kind'], code: string | null, change: Partial<InboxEntry> = {}): InboxEntry => ({
  id: `${++count}`,
  kind,
  actor: null,
  subject_id: 'sess_1',
  title: 'The door sticks',
  url: code ? `http://localhost:3000/issue/${code}` : 'http://localhost:3000/project/prj_1',
  read_at: null,
  created_at: '2026-05-04T12:00:00Z',
  ...change,
})

test('unread entries about one issue are one group only if they follow each other', () => {
  const entries = [
    entry('mention', 'ENG-1'),
    entry('assignment', 'ENG-1'),
    entry('mention', 'ENG-2'),
    entry('mention', 'ENG-1'),
    entry('mention', 'ENG-1', { read_at: '2026-05-04T13:00:00Z' }),
    entry('mention', 'ENG-1'),
    entry('mention', null),
    entry('mention', null),
  ]
  expect(groupsOf(entries).map((group) => group.map((one) => entries.indexOf(one)))).toEqual([
    [0, 1],
    [2],
    [3],
    [4],
    [5],
    [6],
    [7],
  ])
})

test('a group opens the page that its entries share, otherwise their issue', () => {
  const comment = 'http://localhost:3000/issue/ENG-1#comment-cmt_1'
  const question = entry('agent_needs_you', 'ENG-1')
  const opened = (...group: Group) => linkOf(group)
  expect(opened(question)).toEqual({ to: '/agent-session/sess_1' })
  expect(opened(question, entry('agent_finished', 'ENG-1'))).toEqual({ to: '/agent-session/sess_1' })
  expect(opened(question, entry('mention', 'ENG-1', { url: comment }))).toEqual({ to: '/issue/ENG-1' })
  expect(opened(entry('mention', 'ENG-1', { url: comment }), entry('assignment', 'ENG-1'))).toEqual({
    to: '/issue/ENG-1',
    hash: 'comment-cmt_1',
  })
})

test('a reached budget opens the session, or the budget of the app', () => {
  expect(linkOf([entry('budget_reached', 'ENG-1')])).toEqual({ to: '/agent-session/sess_1' })
  const month = { subject_id: 'app_1', url: 'http://localhost:3000/settings/agent-apps/app_1' }
  expect(linkOf([entry('budget_reached', null, month)])).toEqual({ to: '/settings/agent-apps/app_1', hash: 'budget' })
})
