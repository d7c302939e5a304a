import { expect, test } from 'vitest'
import { visibleParts, visibleText } from './visible-text.ts'

test('names control, bidirectional and empty characters', () => {
  expect(visibleText('a\u001b[31m\u0007\r')).toBe('a<U+001B>[31m<U+0007><U+000D>')
  expect(visibleText('\u202Eevil\u2066\u200B\uFEFF\u2028')).toBe('<U+202E>evil<U+2066><U+200B><U+FEFF><U+2028>')
  expect(visibleText('x\u{E0041}\u3164\u00AD\u0085\u007F')).toBe('x<U+E0041><U+3164><U+00AD><U+0085><U+007F>')
  expect(visibleText('\uD800a')).toBe('<U+D800>a')
})

test('leaves other text as it is', () => {
  const text = '\tconst a = "ä→עדה漢😀" // <b>&amp;</b>'
  expect(visibleText(text)).toBe(text)
  expect(visibleParts(text)).toEqual([{ text, isName: false }])
  expect(visibleParts('')).toEqual([])
})

test('keeps the order of the parts', () => {
  expect(visibleParts('a\u202Eb')).toEqual([
    { text: 'a', isName: false },
    { text: 'U+202E', isName: true },
    { text: 'b', isName: false },
  ])
})
