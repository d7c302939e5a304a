import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AllowedTarget } from '../config.ts'
import { isPublicAddress } from './addresses.ts'

/** A URL whose text was checked. The addresses that its name resolves to are checked when connecting. */
export interface Target {
  /** Scheme, host and, unless it is the default, port. */
  origin: string
  /** Including the query. */
  path: string
}

/** A message that follows the name of the field. */
export interface Refusal {
  refused: string
}

const maxLength = 2048
const publicPorts = [443, 8443]
const notPublic = 'must be a public address; the operator of this instance can allow others with BATON_WEBHOOK_ALLOW'
const shape = /^(https?):\/\/([^/?#]+)/i

/** Checks the text itself, not only the parsed URL, and makes no DNS query. */
export function judgeUrl(text: string, allow: readonly AllowedTarget[]): Target | Refusal {
  if (text.length > maxLength) return { refused: `must have at most ${maxLength} characters` }
  if (/[\p{Cc}\s\\]/u.test(text)) return { refused: 'must not contain spaces, control characters or backslashes' }
  const [, scheme, authority] = shape.exec(text) ?? []
  if (!scheme || !authority) return { refused: 'must be https' }
  if (authority.includes('@')) return { refused: 'must not contain a user name or password' }
  if (authority.includes('%')) return { refused: 'must have a host without percent signs' }
  const url = parseUrl(text)
  return url ? judgeParts(url, allow) : { refused: 'must be a URL' }
}

/** Not `URL.canParse`: once V8 has optimised the call, Node 20 refuses letters such as ü. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}

function judgeParts(url: URL, allow: readonly AllowedTarget[]): Target | Refusal {
  const host = url.hostname.replace(/\.$/, '')
  const hostname = withoutBrackets(host)
  const literal = isIP(hostname) !== 0
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const allowed = allowsHost(allow, hostname, port) || (literal && allowsAddress(allow, hostname))

  if (!literal && !isName(hostname)) return { refused: 'must have a host name or an address' }
  if (port === 0) return { refused: 'must not use port 0' }
  if (!allowed) {
    if (!(literal ? isPublicAddress(hostname) : isPublicName(hostname))) return { refused: notPublic }
    if (!secure) return { refused: 'must be https' }
    if (!publicPorts.includes(port)) return { refused: 'must use port 443 or 8443' }
  }
  const origin = `${url.protocol}//${host}${url.port && `:${url.port}`}`
  return { origin, path: url.pathname + url.search }
}

const withoutBrackets = (host: string) => host.replace(/^\[|\]$/g, '')

const isName = (name: string) =>
  name.length <= 253 && name.split('.').every((label) => /^[a-z0-9_-]{1,63}$/.test(label))

/** Names that resolve only on this machine or in local networks. */
const localName = /(?:^|\.)(?:localhost|localdomain|internal|local|home\.arpa|onion|svc)$/
const isPublicName = (name: string) => name.includes('.') && !localName.test(name)

/** Entries have the format of config.ts: lower case, with brackets, in the notation that the operator used. */
export const allowsHost = (allow: readonly AllowedTarget[], hostname: string, port: number) =>
  allow.some(
    (entry) =>
      'host' in entry && (entry.port === null || entry.port === port) && canonicalHost(entry.host) === hostname,
  )

function canonicalHost(host: string) {
  const url = parseUrl(`http://${host}`)
  return url ? withoutBrackets(url.hostname.replace(/\.$/, '')) : host
}

export const allowsAddress = (allow: readonly AllowedTarget[], address: string) =>
  allow.some((entry) => 'range' in entry && contains(entry.range, address))

function contains(range: string, address: string) {
  const [network, bits] = ipaddr.parseCIDR(range)
  const candidate = ipaddr.parse(address)
  // A range of one family never matches the other, not even IPv6 addresses that embed IPv4.
  return network.kind() === candidate.kind() && candidate.match(network, bits)
}
