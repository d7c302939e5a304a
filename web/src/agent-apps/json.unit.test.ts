import { expect, test } from 'vitest'
import { parseJson, positionAt } from './json.ts'

test('gives the position of each field', () => {
  const text = '{\n  "name": "Echo",\n  "oauth": { "scopes": ["read", "write"] }\n}'
  const parsed = parseJson(text)
  if (!parsed.ok) throw new Error(parsed.message)
  expect(parsed.value).toEqual({ name: 'Echo', oauth: { scopes: ['read', 'write'] } })
  const positions = Object.fromEntries([...parsed.offsets].map(([path, offset]) => [path, positionAt(text, offset)]))
  expect(positions).toEqual({
    '': { line: 1, column: 1 },
    name: { line: 2, column: 3 },
    oauth: { line: 3, column: 3 },
    'oauth.scopes': { line: 3, column: 14 },
    'oauth.scopes.0': { line: 3, column: 25 },
    'oauth.scopes.1': { line: 3, column: 33 },
  })
})

test.each([
  ['', 'A value is expected here', 0],
  ['{"a": 1 "b": 2}', 'A comma is missing here', 8],
  ['{"a": 1,}', 'A name in double quotes is expected here', 8],
  ['{"a" 1}', 'A colon is missing here', 5],
  ['[1', 'A closing bracket is missing here', 2],
  ['{"a": "b}', 'This string has no closing quote', 6],
  ['{"a": "\t"}', 'This string contains a character that must be escaped', 6],
  ['{} {}', 'Unexpected text after the end', 3],
  ['{"a": 1, "a": 2}', 'a appears twice', 9],
  ['// no\n{}', 'JSON has no comments', 0],
  ['{"a": maybe}', 'This is not valid JSON', 6],
  [`${'['.repeat(40)}${']'.repeat(40)}`, 'This is nested too deeply', 33],
  ['['.repeat(200_000), 'This is nested too deeply', 0],
])('shows where %.20s is wrong', (text, message, offset) => {
  expect(parseJson(text)).toEqual({ ok: false, message, offset })
})

test('keeps a field called __proto__ as a field', () => {
  const parsed = parseJson('{"__proto__": 1}')
  expect(parsed.ok && Object.keys(parsed.value as object)).toEqual(['__proto__'])
})
