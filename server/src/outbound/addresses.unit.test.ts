import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPublicAddress } from './addresses.ts'

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:200::1',
  '2003::1',
  '2a00:1450:4001::8a',
  '64:ff9b::808:808',
]

const otherAddresses = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.0',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.0',
  '127.255.255.255',
  '168.63.129.16',
  '169.254.0.0',
  '169.254.169.254',
  '172.16.0.0',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.0.0',
  '192.168.255.255',
  '198.18.0.0',
  '198.19.255.255',
  '224.0.0.0',
  '239.255.255.255',
  '240.0.0.0',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::808:808',
  '::ffff:8.8.8.8',
  '::ffff:0:808:808',
  '64:ff9b::7f00:1',
  '64:ff9b::a83f:8110',
  '64:ff9b::1:808:808',
  '64:ff9b:1::808:808',
  '64:ff9b:2::1',
  '100::1',
  '1fff:ffff::1',
  '2001::1',
  '2001:1ff:ffff::1',
  '2001:db8::1',
  '2002:808:808::1',
  '2606:4700::5efe:7f00:1',
  '2606:4700::200:5efe:808:808',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
]

const notAddresses = [
  '',
  'localhost',
  '1.1.1',
  '16843009',
  '0x1010101',
  '01.1.1.1',
  '2606:4700::1%eth0',
  '[::1]',
  ' 1.1.1.1',
]

test.each(publicAddresses)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))
test.each(otherAddresses)('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))
test.each(notAddresses)('"%s" is no address', (address) => expect(isPublicAddress(address)).toBe(false))

test('IPv4 has 18 special ranges and one special address; the rest is public', () => {
  const special = (a: number, b: number, c: number, d: number) =>
    [0, 10, 127].includes(a) ||
    a >= 224 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 198 && (b === 18 || b === 19)) ||
    ['192.0.0', '192.0.2', '192.31.196', '192.52.193', '192.88.99', '192.175.48'].includes(`${a}.${b}.${c}`) ||
    ['198.51.100', '203.0.113'].includes(`${a}.${b}.${c}`) ||
    `${a}.${b}.${c}.${d}` === '168.63.129.16'
  const byte = fc.nat(255)
  const interesting = fc.constantFrom(0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 255)
  fc.assert(
    fc.property(fc.oneof(byte, interesting), byte, byte, byte, (a, b, c, d) => {
      expect(isPublicAddress(`${a}.${b}.${c}.${d}`)).toBe(!special(a, b, c, d))
    }),
    { numRuns: 5000 },
  )
})

test('a private IPv4 address stays private when embedded in IPv6', () => {
  const group = (high: number, low: number) => (high * 256 + low).toString(16)
  fc.assert(
    fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), ([a, b, c, d]) => {
      const embedded = `${group(a, b)}:${group(c, d)}`
      expect(isPublicAddress(`64:ff9b::${embedded}`)).toBe(isPublicAddress(`${a}.${b}.${c}.${d}`))
      for (const prefix of ['::', '::ffff:', '::ffff:0:', '::5efe:', '64:ff9b:1::', '2606:4700::5efe:']) {
        expect(isPublicAddress(`${prefix}${embedded}`)).toBe(false)
      }
      expect(isPublicAddress(`2002:${embedded}::1`)).toBe(false)
      expect(isPublicAddress(`2001:0:${embedded}::1`)).toBe(false)
    }),
  )
})
