import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type RequirementId, verifies } from '../../../conformance/requirements.ts'
import { type AllowedTarget, readConfig } from '../config.ts'
import { judgeUrl } from './target.ts'

const judge = (url: string, allow: readonly AllowedTarget[] = []) => {
  const verdict = judgeUrl(url, allow)
  return 'refused' in verdict ? verdict.refused : 'accepted'
}

test('a target has the origin and the path', () => {
  expect(judgeUrl('HTTPS://Hooks.Example.COM.:8443/a/b?c=d#e', [])).toEqual({
    origin: 'https://hooks.example.com:8443',
    path: '/a/b?c=d',
  })
  expect(judgeUrl('https://[2606:4700::1111]', [])).toEqual({
    origin: 'https://[2606:4700::1111]',
    path: '/',
  })
})

const accepted = [
  'https://example.com',
  'https://example.com:443/x',
  'https://example.com:8443/x?y=z',
  'https://example.com./x',
  'https://does-not-exist.invalid/hook',
  'https://hooks.test',
  'https://hooks.example',
  'https://bücher.example/ü?ä=ö',
  'https://xn--bcher-kva.example',
  'https://with_underscore.example',
  'https://mylocalhost.com',
  'https://internal.example.com',
  'https://8.8.8.8/x',
  'https://[2606:4700::1111]:8443/',
  'https://example.com/@user:name%20here/%00?a@b',
  `https://example.com/${'x'.repeat(2048 - 'https://example.com/'.length)}`,
  `https://${'a'.repeat(63)}.example`,
  `https://${'abcdefg.'.repeat(31)}abcde`,
]
test('letters beyond ASCII are accepted however often they are judged', () => {
  for (let count = 0; count < 20_000; count++) expect(judge('https://bücher.example/ü')).toBe('accepted')
})

test.each(accepted)('%s is accepted', (url) => expect(judge(url)).toBe('accepted'))

const notPublic = 'must be a public address; the operator of this instance can allow others with BATON_WEBHOOK_ALLOW'

test.each([
  ['http://example.com', 'must be https'],
  ['example.com', 'must be https'],
  ['https://u:p@example.com', 'must not contain a user name or password'],
  ['https://example.com:8080', 'must use port 443 or 8443'],
  ['https://10.0.0.1', notPublic],
  ['https://localhost', notPublic],
  ['http://localhost:5000', notPublic],
  ['http://localhost.example:5000', 'must be https'],
  ['https://example.com/a b', 'must not contain spaces, control characters or backslashes'],
  [`https://example.com/${'x'.repeat(2049 - 'https://example.com/'.length)}`, 'must have at most 2048 characters'],
  [`https://${'abcdefg.'.repeat(31)}abcdef`, 'must have a host name or an address'],
  ['https://256.0.0.1', 'must be a URL'],
  ['https://a..example', 'must have a host name or an address'],
  ['https://%65xample.com', 'must have a host without percent signs'],
  ['https:///example.com', 'must be https'],
  ['https://', 'must be https'],
  ['', 'must be https'],
  ['https://[fe80::1%25eth0]', 'must have a host without percent signs'],
  ['https://example.com:99999', 'must be a URL'],
])('%s: %s', (url, refused) => expect(judge(url)).toBe(refused))

describe('targets that the operator allows', () => {
  const allowed = (setting: string) => readConfig({ BATON_WEBHOOK_ALLOW: setting }).webhookAllow

  const allowing: [setting: string, url: string, ...ids: RequirementId[]][] = [
    ['localhost', 'http://localhost:4000/hook', 'config.webhook-allow-http-any-port'],
    ['localhost', 'https://LOCALHOST./hook'],
    ['receiver', 'http://receiver', 'config.webhook-allow-http-any-port'],
    ['127.0.0.1:4000', 'http://127.0.0.1:4000', 'config.webhook-allow-http-any-port'],
    ['127.0.0.1:80', 'http://127.1/', 'config.webhook-allow-http-any-port'],
    ['hooks.internal:443', 'https://hooks.internal'],
    ['[::1]:4000', 'http://[::1]:4000', 'config.webhook-allow-http-any-port'],
    ['[0:0:0:0:0:0:0:1]', 'http://[::1]:4000', 'config.webhook-allow-http-any-port'],
    ['10.0.0.0/8', 'http://10.1.2.3:9000', 'config.webhook-allow-http-any-port'],
    ['10.0.0.1, 192.168.0.0/16', 'https://192.168.5.5:1', 'config.webhook-allow-http-any-port'],
    ['fd00::/8', 'http://[fd00::1]:65535', 'config.webhook-allow-http-any-port'],
    ['8.8.8.8', 'http://8.8.8.8:53', 'config.webhook-allow-http-any-port'],
  ]
  for (const [setting, url, ...ids] of allowing) {
    test(`${setting} allows ${url}`, verifies('config.webhook-allow-forms', ...ids), () => {
      expect(judge(url, allowed(setting))).toBe('accepted')
    })
  }

  test.each([
    ['127.0.0.1:4000', 'http://127.0.0.1:4001'],
    ['127.0.0.1:4000', 'http://127.0.0.1'],
    ['127.0.0.1:4000', 'https://127.0.0.2:4000'],
    ['localhost', 'http://127.0.0.1'],
    ['localhost', 'http://a.localhost'],
    ['hooks.example', 'http://a.hooks.example'],
    ['hooks.example:9000', 'https://hooks.example:9001'],
    ['hooks.example:9000', 'http://hooks.example'],
    ['10.0.0.0/8', 'http://11.0.0.1'],
    ['10.0.0.0/8', 'http://hooks.example'],
    ['10.0.0.0/8', 'http://[::ffff:10.0.0.1]'],
    ['fd00::/8', 'http://10.0.0.1'],
    ['[::1]', 'http://127.0.0.1'],
  ])('%s does not allow %s', verifies('config.webhook-allow-is-narrow'), (setting, url) => {
    expect(judge(url, allowed(setting))).not.toBe('accepted')
  })

  test.each([
    ['http://u@localhost', 'must not contain a user name or password'],
    ['http://localhost:0', 'must not use port 0'],
    ['ftp://localhost', 'must be https'],
    ['http:localhost', 'must be https'],
    ['http://local%68ost', 'must have a host without percent signs'],
    ['http://localhost/\n', 'must not contain spaces, control characters or backslashes'],
    [`http://localhost/${'x'.repeat(2048)}`, 'must have at most 2048 characters'],
  ])('%s stays refused: %s', verifies('config.webhook-allow-is-narrow'), (url, refused) => {
    expect(judge(url, allowed('localhost'))).toBe(refused)
  })
})

const octets = (...ranges: [number, number][]) => fc.tuple(...ranges.map(([min, max]) => fc.integer({ min, max })))
const any: [number, number] = [0, 255]
const privateAddress = fc.oneof(
  octets([10, 10], any, any, any),
  octets([127, 127], any, any, any),
  octets([169, 169], [254, 254], any, any),
  octets([172, 172], [16, 31], any, any),
  octets([192, 192], [168, 168], any, any),
)
const publicAddress = octets([11, 99], any, any, any)

const notations = [
  (n: number) => String(n),
  (n: number) => `0x${n.toString(16)}`,
  (n: number) => `0X${n.toString(16).toUpperCase()}`,
  (n: number) => `0${n.toString(8)}`,
  (n: number) => `0x000${n.toString(16)}`,
]
/** An IPv4 address in one to four parts, each in its own notation; the last part has all remaining bytes. */
function written(bytes: number[], parts: number, chosen: number[]) {
  const last = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)
  return [...bytes.slice(0, parts - 1), last]
    .map((part, index) => (notations[chosen[index] ?? 0] ?? String)(part))
    .join('.')
}
const spelling = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(4), { minLength: 4, maxLength: 4 }))

test('a private address is refused in any notation', () => {
  fc.assert(
    fc.property(privateAddress, spelling, fc.constantFrom('', '.'), (bytes, [parts, chosen], dot) => {
      expect(judge(`https://${written(bytes, parts, chosen)}${dot}/`)).toBe(notPublic)
    }),
    { numRuns: 2000 },
  )
})

test('a public address is accepted in any notation, and normalized', () => {
  fc.assert(
    fc.property(publicAddress, spelling, (bytes, [parts, chosen]) => {
      expect(judgeUrl(`https://${written(bytes, parts, chosen)}/`, [])).toMatchObject({
        origin: `https://${bytes.join('.')}`,
      })
    }),
    { numRuns: 2000 },
  )
})

test('no text makes it throw', () => {
  fc.assert(fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl()), (text) => void judgeUrl(text, [])))
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void judgeUrl(`https://${text}`, [])))
})
