import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../conformance/requirements.ts'
import { TestClock } from '../../test/clock.ts'
import { GuardedClient } from './client.ts'
import { judgeUrl } from './target.ts'

const words = (text: string) => text.trim().split(/\s+/)
const hosts = (text: string) => words(text).map((host) => `https://${host}/hook`)
const circled = (text: string) =>
  [...text].map((c) => (c === '0' ? '⓪' : /\d/.test(c) ? String.fromCodePoint(0x2460 + Number(c) - 1) : c)).join('')
const fullWidth = (text: string) => [...text].map((c) => String.fromCodePoint(c.charCodeAt(0) + 0xfee0)).join('')
const circledLetters = (text: string) =>
  [...text].map((c) => String.fromCodePoint(0x24d0 + c.charCodeAt(0) - 'a'.charCodeAt(0))).join('')

const groups: Record<string, string[]> = {
  'IPv4 loopback': hosts(`127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 0x7f.0x0.0x0.0x1
    127.0.0.01 127.0.0.1. 127%2e0.0.1 127.255.255.254`),
  'zero and overflow': hosts('0 0x 0.0.0.0 4294967295 4294967296 256.0.0.1 1.2.3.4.5 09.0.0.1'),
  'Unicode that becomes loopback': [
    ...hosts(`${circled('127.0.0.1')} ${fullWidth('127.0.0.1')} ${fullWidth('127')}.0.0.1 127。0。0。1 127．0．0．1`),
    ...hosts('127｡0｡0｡1 127%E3%80%820.0.1 127%EF%BC%8E0.0.1 ①②⑦.0.0.1'),
    ...hosts(`${circledLetters('localhost')} ${fullWidth('localhost')} local\u00adhost 127\u00ad.0.0.1 localho\u017ft`),
    ...hosts('%6c%6f%63%61%6c%68%6f%73%74 loc%61lhost %31%32%37.0.0.1 loca\u200blhost'),
  ],
  'private and special IPv4': hosts(`10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 169.254.1.1 192.0.0.170
    192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255`),
  'metadata of clouds': hosts(`169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 [fd00:ec2::254]
    metadata.google.internal`),
  IPv6: hosts(`[::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:0:127.0.0.1]
    [::5efe:7f00:1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2001:0:7f00:1::]
    [fe80::1] [fc00::1] [fec0::1] [ff02::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1] [fe80::1%25eth0] [fe80::1%eth0]`),
  names: [
    ...hosts(`localhost LOCALHOST localhost. a.localhost localhost.localdomain ip6-localhost x.internal x.local
      x.home.arpa host.docker.internal kubernetes.default.svc metadata x.onion .e.com e..com e.com.. X.INTERNAL.`),
    `https://${'a'.repeat(64)}.com/hook`,
    `https://${Array(32).fill('abcdefg').join('.')}.com/hook`,
  ],
  userinfo: hosts(`u@e.com u:p@e.com @e.com :@e.com e.com@127.0.0.1 e.com:443@127.0.0.1 e.com;@127.0.0.1
    127.0.0.1\\@e.com u%40@e.com`),
  ports: [
    ...hosts('e.com:80 e.com:22 e.com:25 e.com:6379 e.com:0 e.com:8080 e.com:65536'),
    ...hosts('127.0.0.1:80 127.0.0.1:22 127.0.0.1:25 127.0.0.1:6379 127.0.0.1:8080 localhost:8443 [::1]:8080'),
  ],
  'scheme and shape': [
    ...words(`http://e.com/ ftp://e.com/ file:///etc/passwd gopher://e.com/ data:text/plain,x javascript:alert(1)
      blob:https://e.com/1 wss://e.com/ unix:///tmp/socket jar:https://e.com/!/ //e.com https:e.com https:/e.com
      https:\\\\e.com https:///e.com https://?e.com https://#e.com https:// https: http://127.0.0.1/`),
    '\thttps://e.com/',
    ' https://e.com/',
    'https://e.com/ ',
    'https://e\n.com/',
    'https://e.com/\nhook',
    'https://e.com/\r\nhook',
    'https://e.com\u0000/',
    'https://e.com/\u007f',
    `https://e.com/${'x'.repeat(2048)}`,
    '',
  ],
}

const reachable = ['https://e.com', 'https://e.com:443/hook', 'https://e.com:8443/hook']
test.each(reachable)('%s is accepted', (url) => expect(judgeUrl(url, [])).not.toHaveProperty('refused'))

describe.each(Object.entries(groups))('%s', (_, urls) => {
  test.each(urls)('%j is refused', (url) => {
    expect(judgeUrl(url, [])).toEqual({ refused: expect.stringMatching(/^must /) })
  })

  test('an attempt is blocked before a socket is opened', verifies('delivery.blocked-destination'), async () => {
    const arrivals = await listenOnLoopback([22, 25, 80, 443, 6379, 8080])
    const sockets = countSockets()
    const client = new GuardedClient({ allow: [], clock: new TestClock(), dnsServers: ['127.0.0.1:1'] })
    onTestFinished(() => client.close())
    for (const url of urls) {
      const outcome = await client.send({ method: 'POST', url, headers: {}, body: Buffer.from('{}') })
      expect(outcome, url).toEqual({
        ok: false,
        reason: 'blocked_destination',
        status: null,
        durationMs: 0,
        body: Buffer.alloc(0),
        whole: false,
      })
    }
    expect({ sockets: sockets(), arrivals: arrivals() }).toEqual({ sockets: 0, arrivals: 0 })
  })
})

test('an allowed request increases both counters', async () => {
  const arrivals = await listenOnLoopback([8089])
  const sockets = countSockets()
  const client = new GuardedClient({ allow: [{ range: '127.0.0.0/8' }], clock: new TestClock() })
  onTestFinished(() => client.close())
  await client.send({ method: 'POST', url: 'http://127.0.0.1:8089/', headers: {} })
  expect({ sockets: sockets(), arrivals: arrivals() }).toEqual({ sockets: 1, arrivals: 1 })
})

/** Node announces each socket that this process opens, even before it resolves a name. */
function countSockets() {
  let count = 0
  const opened = () => void count++
  subscribe('net.client.socket', opened)
  onTestFinished(() => void unsubscribe('net.client.socket', opened))
  return () => count
}

/** Counts connections. Ports that cannot be opened on this machine are skipped. */
async function listenOnLoopback(ports: number[]) {
  let arrivals = 0
  for (const port of ports) {
    for (const host of ['127.0.0.1', '::1']) {
      const server = createServer((socket) => {
        arrivals++
        socket.destroy()
      })
      server.listen(port, host)
      const listening = await once(server, 'listening').then(
        () => true,
        () => false,
      )
      if (listening) onTestFinished(() => void server.close())
    }
  }
  return () => arrivals
}
