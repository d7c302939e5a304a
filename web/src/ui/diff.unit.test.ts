import { expect, test } from 'vitest'
import { diffLines, withContext } from './diff.ts'

const marks = { same: ' ', added: '+', removed: '-', skipped: '…' }
const shown = (before: string, after: string) =>
  withContext(diffLines(before, after)).map((line) =>
    line.kind === 'skipped' ? `…${line.count}` : marks[line.kind] + line.text,
  )

test.for([
  ['', '', []],
  ['', 'a', ['+a']],
  ['a', '', ['-a']],
  ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
  ['a\nb', 'b\na', ['-a', ' b', '+a']],
  ['one\ntwo\nthree\nfour\nfive\nsix', 'one\ntwo\nthree\nfour\nfive\n6', ['…3', ' four', ' five', '-six', '+6']],
] as const)('compares %j with %j by lines', ([before, after, expected]) => {
  expect(shown(before, after)).toEqual(expected)
})

test('texts too long to compare are removed and added as a whole', () => {
  const text = (letter: string) => Array.from({ length: 2001 }, (_, at) => `${letter}${at}`).join('\n')
  const diff = diffLines(text('a'), text('b'))
  expect(diff.filter(({ kind }) => kind === 'removed')).toHaveLength(2001)
  expect(diff.slice(0, 2001).every(({ kind }) => kind === 'removed')).toBe(true)
})
