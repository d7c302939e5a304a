import { expect, test } from 'vitest'
import { safeNext } from './safe-next.ts'

const origin = 'https://baton.example.com'

test('the page after signing in is one of this instance', () => {
  expect(safeNext('/issues?state=open#top', origin)).toBe('/issues?state=open#top')
  expect(safeNext(`${origin}/inbox`, origin)).toBe('/inbox')
  const others = [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
  ]
  for (const next of [...others, 'javascript:alert(1)', undefined, 7]) expect(safeNext(next, origin)).toBe('/')
})
