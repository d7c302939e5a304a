import { expect, test } from 'vitest'
import { isolated } from './isolated.ts'

test('a name in a sentence cannot turn the words around it', () => {
  expect(isolated('Robot\u202E\u2066\u2069')).toBe('Robot')
  expect(isolated('עדה 2')).toBe('\u2068עדה 2\u2069')
  expect(isolated('\u2069\u202Eעדה')).toBe('\u2068עדה\u2069')
})

test('other names stay as they are', () => {
  for (const name of ['Ada Lovelace', '山田 太郎', '👩\u200D💻 Team', 'Борис', '']) expect(isolated(name)).toBe(name)
  expect(isolated(undefined)).toBe('')
})
