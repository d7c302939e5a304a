import { expect, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { programLog, redactor, secretValues } from './redact.ts'

const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----'

test('replaces secrets and private keys', verifies('run.secrets-redacted'), () => {
  const { all, finds } = redactor(['hunter2-hunter2', 'short', 'hunter2-hunter2-longer', 'two\nlines of it'])
  expect(all('a hunter2-hunter2-longer b hunter2-hunter2 short')).toBe('a [redacted] b [redacted] short')
  expect(all(`x ${key} y`)).toBe('x [redacted] y')
  expect(all('x -----BEGIN OPENSSH PRIVATE KEY-----\nabc')).toBe('x [redacted]')
  expect(all(JSON.stringify('two\nlines of it'))).toBe('"[redacted]"')
  expect(finds('nothing here')).toBe(false)
  expect(finds('+hunter2-hunter2')).toBe(true)
})

test('text that goes on does not end within a secret', verifies('run.secrets-redacted'), () => {
  const { soFar, add } = redactor(['hunter2-hunter2'])
  expect(soFar('the key is hunter2-h')).toBe('the key is ')
  expect(soFar('the key is hunter2-hunter2')).toBe('the key is [redacted]')
  expect(soFar('it begins -----BEGIN')).toBe('it begins ')
  add('svc_at_0123456789')
  expect(soFar('Bearer svc_at_01')).toBe('Bearer ')
})

test('a private key that comes line by line is left out of a log', verifies('run.secrets-redacted'), () => {
  const logged: string[] = []
  const log = programLog(redactor(['hunter2-hunter2']), (line) => void logged.push(line))
  for (const line of ['before hunter2-hunter2', ...`key: ${key}`.split('\n'), 'after']) log(line)
  expect(logged).toEqual(['before [redacted]', 'key: [redacted]', 'after'])
})

test('keeps only the latest values that were added', () => {
  const { all, add } = redactor(['always-hidden'])
  for (let n = 0; n < 100; n++) add(`token-number-${n}-`)
  expect(all('always-hidden token-number-0- token-number-99-')).toBe('[redacted] token-number-0- [redacted]')
})

test('variables named like secrets count, and those of --redact', () => {
  const env = {
    API_KEY: 'k'.repeat(8),
    github_token: 't'.repeat(9),
    SHORT_SECRET: 'abc',
    PATH: '/usr/bin:/bin',
    NOTE: 'something',
  }
  expect(secretValues(env, ['NOTE'])).toEqual(['kkkkkkkk', 'ttttttttt', 'something'])
})
