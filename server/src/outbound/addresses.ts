import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The IANA special-purpose registries, and addresses where clouds serve credentials. */
const notPublic = {
  '0.0.0.0/8': 'this network',
  '10.0.0.0/8': 'private',
  '100.64.0.0/10': 'shared by carriers; holds the metadata of Alibaba at 100.100.100.200',
  '127.0.0.0/8': 'loopback',
  '168.63.129.16/32': 'metadata of Azure, within a public range',
  '169.254.0.0/16': 'link-local; holds the metadata of most clouds at 169.254.169.254',
  '172.16.0.0/12': 'private',
  '192.0.0.0/24': 'protocol assignments; holds the metadata of Oracle at 192.0.0.192',
  '192.0.2.0/24': 'documentation',
  '192.31.196.0/24': 'AS112',
  '192.52.193.0/24': 'automatic multicast tunnels',
  '192.88.99.0/24': '6to4 relays',
  '192.168.0.0/16': 'private',
  '192.175.48.0/24': 'AS112',
  '198.18.0.0/15': 'benchmarks',
  '198.51.100.0/24': 'documentation',
  '203.0.113.0/24': 'documentation',
  '224.0.0.0/4': 'multicast',
  '240.0.0.0/4': 'reserved, and broadcast',
  // Of IPv6 only 2000::/3 is public; these are within it.
  '2001::/23': 'protocol assignments, Teredo, benchmarks, ORCHID',
  '2001:db8::/32': 'documentation',
  '2002::/16': '6to4, which reaches the IPv4 address it embeds',
  '2620:4f:8000::/48': 'AS112',
  '3fff::/20': 'documentation',
}

const blocked = new BlockList()
for (const range of Object.keys(notPublic)) {
  const [address = '', bits] = range.split('/')
  blocked.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4')
}

/** False also for anything but a plain address: names, other notations, addresses with a zone. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !blocked.check(address, 'ipv4')
  if (isIP(address) !== 6 || address.includes('%')) return false
  const bytes = ipaddr.IPv6.parse(address).toByteArray()
  if (isNat64(bytes)) return isPublicAddress(bytes.slice(12).join('.'))
  return isGlobalUnicast(bytes) && !isIsatap(bytes) && !blocked.check(address, 'ipv6')
}

const isGlobalUnicast = ([first = 0]: number[]) => first >> 5 === 0b001

/** 64:ff9b::/96: how a network without IPv4 reaches IPv4. 64:ff9b:1::/48 is for private networks, and refused. */
const isNat64 = (bytes: number[]) => Buffer.from(bytes).subarray(0, 12).equals(nat64)
const nat64 = Buffer.from('0064ff9b0000000000000000', 'hex')

/** Any prefix, then 0:5efe or 200:5efe, then the IPv4 address that a tunnel would reach. */
const isIsatap = ([, , , , , , , , ...interfaceId]: number[]) =>
  interfaceId[2] === 0x5e &&
  interfaceId[3] === 0xfe &&
  interfaceId[1] === 0 &&
  (interfaceId[0] === 0 || interfaceId[0] === 2)
