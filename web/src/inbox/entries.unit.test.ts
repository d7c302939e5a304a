import type { InboxEntry, InboxThread } from '@baton/protocol'
import { expect, test } from 'vitest'
import { linkOf, sentenceOf } from './entries.ts'

const issueUrl = 'http://localhost:3000/issue/ENG-1'

const thread = (
  kind: InboxEntry['kind'],
  { url = issueUrl, subject_id = 'sess_1' } = {},
  change: Partial<InboxThread> = {},
): InboxThread => ({
  subject_id: 'iss_1',
  title: 'The door sticks',
  url: url.replace(/#.*/, ''),
  latest: {
    id: 'inb_1',
    kind,
    actor: null,
    subject_id,
    title: 'The door sticks',
    url,
    read_at: null,
    created_at: '2026-05-04T12:00:00Z',
  },
  count: 1,
  unread_count: 1,
  kinds: [kind],
  snoozed_until: null,
  archived_at: null,
  ...change,
})

test('a thread opens the page of its newest entry', () => {
  const comment = `${issueUrl}#comment-cmt_1`
  expect(linkOf(thread('agent_needs_you'))).toEqual({ to: '/agent-session/sess_1' })
  expect(linkOf(thread('assignment'))).toEqual({ to: '/issue/ENG-1' })
  expect(linkOf(thread('mention', { url: comment }))).toEqual({ to: '/issue/ENG-1', hash: 'comment-cmt_1' })
})

test('a request for review opens its session, and suggestions open the triage of their team', () => {
  expect(linkOf(thread('review_requested'))).toEqual({ to: '/agent-session/sess_1' })
  const triage = linkOf(thread('suggestions_ready', { url: 'http://localhost:3000/triage?team_id=team_1' }))
  expect(triage.to).toBe('/triage')
  expect(triage.search?.({})).toEqual({ team_id: 'team_1' })
})

test('a thread with unread entries of several pages opens the issue', () => {
  const two = { count: 2, unread_count: 2 }
  const sessions = { ...two, kinds: ['agent_finished' as const, 'agent_needs_you' as const] }
  const mixed = { ...two, kinds: ['agent_needs_you' as const, 'mention' as const] }
  expect(linkOf(thread('agent_needs_you', {}, sessions))).toEqual({ to: '/agent-session/sess_1' })
  expect(linkOf(thread('agent_needs_you', {}, mixed))).toEqual({ to: '/issue/ENG-1' })
  // Once one was read, the other has its own page.
  expect(linkOf(thread('agent_needs_you', {}, { ...mixed, unread_count: 1 }))).toEqual({ to: '/agent-session/sess_1' })
})

test('a reached budget opens the session, or the budget of the app', () => {
  expect(linkOf(thread('budget_reached'))).toEqual({ to: '/agent-session/sess_1' })
  const app = { subject_id: 'app_1', url: 'http://localhost:3000/settings/agent-apps/app_1' }
  expect(linkOf(thread('budget_reached', app))).toEqual({ to: '/settings/agent-apps/app_1', hash: 'budget' })
})

test('a status that an automation changed has no former member as its author', () => {
  expect(sentenceOf(thread('status').latest)).toBe('Status changed')
  expect(sentenceOf(thread('comment').latest)).toContain('A former member')
  const actor = { id: 'usr_1', name: 'Ada' }
  expect(sentenceOf({ ...thread('status').latest, actor })).toMatch(/Ada.* changed the status/)
})
