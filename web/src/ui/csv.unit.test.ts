import { expect, test } from 'vitest'
import { csvRow, parseCsv } from './csv.ts'

test.for([
  ['', []],
  [
    'a,b\r\nc,d',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['\uFEFFa\n\n , \nb', [['a'], ['b']]],
  ['"a, ""b""","c\nd"\n', [['a, "b"', 'c\nd']]],
  ['5" pipe,x', [['5" pipe', 'x']]],
  ['"never closed\n', [['never closed\n']]],
] as const)('reads %j', ([text, rows]) => expect(parseCsv(text)).toEqual(rows))

test('writes what it reads', () => {
  const row = ['plain', 'with, comma', 'a "quote"', 'two\nlines', '']
  expect(parseCsv(csvRow(row))).toEqual([row])
})
