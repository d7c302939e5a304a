import { expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { newId } from './ids.ts'

test('ids have a prefix and 26 Crockford characters', verifies('http.id-format'), () => {
  expect(newId('usr')).toMatch(/^usr_[0-9a-hjkmnp-tv-z]{26}$/)
})

test('ids made later sort later, even within a millisecond', verifies('http.id-sorts-by-time'), () => {
  const ids = Array.from({ length: 5000 }, () => newId('team'))
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})
