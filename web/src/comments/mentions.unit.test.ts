import { expect, test } from 'vitest'
import { mentionAt } from './mentions.ts'

const ann = { id: 'usr_ann', name: 'Ann' }
const echo = { id: 'usr_echo', name: 'Echo' }
const people = [ann, { id: 'usr_annika', name: 'Annika' }, echo, { id: 'usr_echo2', name: 'Echo 2' }]

test.each([
  ['@An', [], 'An'],
  ['Hi @', [], ''],
  ['mail@An', [], null],
  ['@ An', [], null],
  ['@Ann', [ann], 'Ann'],
  ['@Anni', [ann], 'Anni'],
  ['@Ann ', [ann], null],
  ['@Ann says', [ann], null],
  ['@Ann, an', [ann], null],
  ['@Echo ', [echo], null],
  ['@echo 2', [echo], 'echo 2'],
  ['@Echo 2', [echo], 'Echo 2'],
  ['@Echo 20 times', [echo], null],
  ['@Ann and @Ec', [ann], 'Ec'],
])('mention being typed at the end of “%s”', (text, named, query) => {
  expect(mentionAt(text, text.length, named, people)?.query ?? null).toBe(query)
})

test('does not suggest again after a complete name, unless another user has the same name', () => {
  expect(mentionAt('@Ann', 4, [ann], [ann])).toBeNull()
  expect(mentionAt('@Ann', 4, [ann], [ann, { ...ann, id: 'usr_other' }])).toEqual({ at: 0, query: 'Ann' })
})
