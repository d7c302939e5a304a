import type { AgentActivity } from '@baton/protocol'
import { expect, test } from 'vitest'
import { type Entry, latestExchange } from './conversation.ts'

const entry = (type: string, more: Partial<Entry> = {}, signal: string | null = null): Entry => ({
  activity: { id: type, type, signal } as unknown as AgentActivity,
  answer: null,
  open: false,
  ...more,
})
const shown = (...entries: Entry[]) => latestExchange(entries).map((one) => entries.indexOf(one))

test('shows the latest activity only, until a person has written', () => {
  expect(shown()).toEqual([])
  expect(shown(entry('thought'), entry('action'))).toEqual([1])
  expect(shown(entry('response'), entry('prompt', {}, 'stop'))).toEqual([0])
})

test('keeps an answer when a question or the end of the session follows it', () => {
  expect(shown(entry('action'), entry('response'), entry('elicitation'))).toEqual([1, 2])
  expect(shown(entry('response'), entry('prompt', {}, 'stop'), entry('response'))).toEqual([0, 2])
})

test('keeps the last message and the answer before it', () => {
  const [thought, response, prompt, action] = ['thought', 'response', 'prompt', 'action'].map((type) => entry(type))
  if (!thought || !response || !prompt || !action) throw new Error()
  expect(shown(thought, response, prompt)).toEqual([1, 2])
  expect(shown(thought, response, prompt, entry('thought'), action)).toEqual([1, 2, 4])
  expect(shown(response, prompt, entry('response'), entry('prompt'), entry('response'))).toEqual([2, 3, 4])
  expect(shown(prompt, thought)).toEqual([0, 1])
})

test('an answered question is shown with its answer', () => {
  const answered = entry('elicitation', { answer: { id: 'answer' } as AgentActivity })
  expect(shown(entry('response'), answered, entry('thought'))).toEqual([1, 2])
})
