import { expect, test } from 'vitest'
import { quoteOf } from './quote.ts'

test('quotes a line as code', () => {
  expect(quoteOf('src/__init__.py', 12)).toBe('`src/__init__.py:12`')
})

test('keeps a path with backticks and hidden characters inside the code', () => {
  expect(quoteOf('a`b', 1)).toBe('``a`b:1``')
  expect(quoteOf('`[x](https://example.com)`', 1)).toBe('`` `[x](https://example.com)`:1 ``')
  expect(quoteOf('a\nb\u202E', 1)).toBe('`a<U+000A>b<U+202E>:1`')
})
