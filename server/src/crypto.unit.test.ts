import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Keyring, newSecret, UnknownKeyError } from './crypto.ts'

const [one, two] = [randomBytes(32), randomBytes(32)]

test('a sealed value opens only with its key and its owner', () => {
  const sealed = new Keyring(one).seal('secret', 'whk_1')
  expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/)
  expect(sealed).not.toContain('secret')
  expect(new Keyring(one).open(sealed, 'whk_1')).toBe('secret')
  expect(() => new Keyring(one).open(sealed, 'whk_2')).toThrow()
  expect(() => new Keyring(two).open(sealed, 'whk_1')).toThrow(UnknownKeyError)
  expect(() => new Keyring(one).open(sealed.slice(0, -2), 'whk_1')).toThrow()
})

test('previous keys can open, only the current one seals', () => {
  const old = new Keyring(one).seal('secret', 'whk_1')
  const rotated = new Keyring(two, [one])
  expect(rotated.open(old, 'whk_1')).toBe('secret')
  expect(new Keyring(two).open(rotated.seal('secret', 'whk_1'), 'whk_1')).toBe('secret')
})

test('two secrets differ, and so do two seals of one secret', () => {
  expect(newSecret('psn_')).not.toBe(newSecret('psn_'))
  const keys = new Keyring(one)
  expect(keys.seal('secret', 'whk_1')).not.toBe(keys.seal('secret', 'whk_1'))
})
