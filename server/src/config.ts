import { join } from 'node:path'
import { Cron } from 'croner'
import ipaddr from 'ipaddr.js'
import { DatabaseUrlProblem, urlsOfHosts } from './database-url.ts'
import { SettingFileProblem, settingOf } from './setting-files.ts'
import { readProviders, type SsoConfig, SsoProblem } from './sso-config.ts'

export interface Config {
  host: string
  port: number
  rootUrl: string
  baseUrl: string
  mcpUrl: string
  appUrl: string
  /** `HOST` and the root URL are loopback addresses: the service is reachable from this machine only. */
  local: boolean
  /** The URL may have several hosts: open it with `openPostgres` or `findPrimary`, not with the driver. */
  database: { kind: 'embedded'; dataDir: string } | { kind: 'postgres'; url: string }
  /** Null: the key file in the data directory. */
  secretKey: Buffer | null
  previousSecretKeys: Buffer[]
  role: 'all' | 'api' | 'worker'
  /** How long requests are still accepted after `/readyz` begins to fail, so that proxies can switch. */
  stopDelayMs: number
  webhookAllow: AllowedTarget[]
  retryDelaysMs: number[]
  staleAfterMs: number
  stoppingTimeoutMs: number
  unresponsiveAfterMs: number
  sessionRatePerSecond: number
  installationRatePerMinute: number
  apiRatePerMinute: number
  webhookLimit: number
  demo: boolean
  signup: 'open' | 'invite'
  trustProxy: string[]
  sso: SsoConfig
  /** `price`: US dollars for a million tokens. */
  model: { url: string; name: string; key: string | null; price: { input: number; output: number } | null } | null
  /** Null: no mail is queued or sent. */
  mail: MailConfig | null
  /** Where bytes of files are. Null: nowhere, so that nothing can be uploaded. */
  files: { kind: 'directory'; path: string } | S3Config | null
  fileBytes: number
  workspaceBytes: number
  deletionDays: number
  /** Where `/metrics` is served in place of the main port; null: there. */
  metricsListen: { host: string; port: number } | null
  /** Statements slower than this are logged; 0: none. */
  slowMs: number
  /** Null: `operate.sock` in the data directory. */
  operateSocket: string | null
  /** Days for which rows are kept; 0: for ever. */
  keepDays: { audit: number; sessions: number; inbox: number }
  /** Null `dir`: no scheduled backups. */
  backup: { dir: string | null; at: string; keep: number }
}

export interface S3Config {
  kind: 's3'
  /** Of the bucket, with a slash at its end. */
  url: string
  region: string
  keyId: string
  secret: string
}

export interface MailConfig {
  host: string
  port: number
  /** `tls` from the first byte, `starttls` required, or `plain` to this machine. */
  security: 'tls' | 'starttls' | 'plain'
  login: { user: string; password: string } | null
  from: { name: string; address: string }
  /** `minimal`: notifications contain no title, name or text. */
  content: 'excerpt' | 'minimal'
  ratePerMinute: number
  retryDelaysMs: number[]
}

/** A target that the operator allows although its address is not public. */
export type AllowedTarget = { host: string; port: number | null } | { range: string }

export class ConfigError extends Error {}

type Env = Record<string, string | undefined>

/**
 * Names of variables that look like a setting but are none: misspelt, or from another version. `readConfig` reads every
 * setting, so a name that it did not read is unknown.
 */
export function unknownVariables(env: Env): string[] {
  const known = new Set<string>()
  const recording = new Proxy(env, {
    get(target, name: string) {
      known.add(name)
      return target[name]
    },
  })
  readConfig(recording)
  return Object.keys(env)
    .filter((name) => name.startsWith('BATON_') && !known.has(name))
    .sort()
}

/** The configuration of a service with `PORT=0`, once it has a port: the default root URL contains it. */
export const withPort = (config: Config, port: number): Config => ({
  ...config,
  port,
  ...(config.rootUrl === defaultRootUrl(0) ? addressesAt(rootAddress(defaultRootUrl(port))) : {}),
})

const defaultRootUrl = (port: number) => `http://localhost:${port}`

const addressesAt = (rootUrl: string) => ({
  rootUrl,
  baseUrl: `${rootUrl}/api/v1`,
  mcpUrl: `${rootUrl}/mcp`,
  appUrl: rootUrl,
})

/** The only reader of the environment. A bad value stops the start with a one-line message that names the variable. */
export function readConfig(env: Env): Config {
  const port = read(env, 'PORT', 3000, wholeNumber(0, 65_535))
  const host = read(env, 'HOST', '127.0.0.1', String)
  const rootUrl = read(env, 'BATON_ROOT_URL', rootAddress(defaultRootUrl(port)), rootAddress)
  const local = isLoopback(host.toLowerCase()) && isLoopback(new URL(rootUrl).hostname)
  const databaseUrl = read(env, 'DATABASE_URL', null, postgresUrl)
  const secretKey = read(env, 'BATON_SECRET_KEY', null, key)
  if (databaseUrl && !secretKey) {
    throw new ConfigError(
      'BATON_SECRET_KEY is required with DATABASE_URL: 32 bytes in base64 (openssl rand -base64 32)',
    )
  }
  const demo = read(env, 'BATON_DEMO', local && !databaseUrl, oneOf({ 0: false, 1: true }))
  if (demo && !local) {
    throw new ConfigError('BATON_DEMO=1 requires a loopback HOST and BATON_ROOT_URL, because demo passwords are public')
  }
  const dataDir = read(env, 'BATON_DATA_DIR', './.baton', String)
  const role = read(env, 'BATON_ROLE', 'all', oneOf({ all: 'all', api: 'api', worker: 'worker' } as const))
  const stopDelayMs = read(env, 'BATON_STOP_DELAY', 0, wholeNumber(0, 3600)) * 1000
  return {
    host,
    port,
    ...addressesAt(rootUrl),
    local,
    database: databaseUrl ? { kind: 'postgres', url: databaseUrl } : { kind: 'embedded', dataDir },
    secretKey,
    previousSecretKeys: read(env, 'BATON_SECRET_KEY_PREVIOUS', [], listOf(previousKey)),
    role,
    // A worker receives no requests from proxies.
    stopDelayMs: role === 'worker' ? 0 : stopDelayMs,
    webhookAllow: read(env, 'BATON_WEBHOOK_ALLOW', [], listOf(allowedTarget)),
    retryDelaysMs: read(env, 'BATON_RETRY_DELAYS', [60_000, 3_600_000, 21_600_000], retryDelays),
    staleAfterMs: read(env, 'BATON_STALE_AFTER', 1_800_000, seconds),
    stoppingTimeoutMs: read(env, 'BATON_STOPPING_TIMEOUT', 60_000, seconds),
    unresponsiveAfterMs: read(env, 'BATON_UNRESPONSIVE_AFTER', 10_000, seconds),
    sessionRatePerSecond: read(env, 'BATON_SESSION_RATE', 10, wholeNumber(1, 1_000_000)),
    installationRatePerMinute: read(env, 'BATON_INSTALLATION_RATE', 600, wholeNumber(1, 1_000_000)),
    apiRatePerMinute: read(env, 'BATON_API_RATE', 1200, wholeNumber(1, 1_000_000)),
    webhookLimit: read(env, 'BATON_WEBHOOK_LIMIT', 20, wholeNumber(0, 1_000_000)),
    demo,
    signup: read(env, 'BATON_SIGNUP', local ? 'open' : 'invite', oneOf({ open: 'open', invite: 'invite' })),
    trustProxy: read(env, 'BATON_TRUST_PROXY', [], listOf(addressOrRange)),
    sso: sso(env),
    model: model(env),
    mail: mail(env),
    files: files(env, databaseUrl ? null : dataDir),
    fileBytes: read(env, 'BATON_FILE_BYTES', 52_428_800, wholeNumber(1, 524_288_000)),
    workspaceBytes: read(env, 'BATON_WORKSPACE_BYTES', 10 * 1024 ** 3, wholeNumber(1, 1e15)),
    deletionDays: read(env, 'BATON_DELETION_DAYS', 14, wholeNumber(1, 90)),
    metricsListen: read(env, 'BATON_METRICS_LISTEN', null, listenAddress),
    slowMs: read(env, 'BATON_SLOW_MS', 500, wholeNumber(0, 3_600_000)),
    operateSocket: read(env, 'BATON_OPERATE_SOCKET', null, String),
    keepDays: {
      audit: read(env, 'BATON_AUDIT_DAYS', 0, retentionDays),
      sessions: read(env, 'BATON_SESSION_DAYS', 0, retentionDays),
      inbox: read(env, 'BATON_INBOX_DAYS', 0, retentionDays),
    },
    backup: {
      dir: read(env, 'BATON_BACKUP_DIR', null, String),
      at: read(env, 'BATON_BACKUP_AT', '0 3 * * *', schedule),
      keep: read(env, 'BATON_BACKUP_KEEP', 14, wholeNumber(1, 365)),
    },
  }
}

/** Thrown by the parsers below; `read` adds the variable's name. */
class BadValue extends Error {}

function read<T, D>(env: Env, name: string, fallback: D, parse: (text: string) => T): T | D {
  let variable = name
  try {
    const setting = settingOf(env, name)
    if (!setting) return fallback
    variable = setting.variable
    return parse(setting.text)
  } catch (error) {
    if (error instanceof SettingFileProblem) throw new ConfigError(error.message)
    if (error instanceof BadValue) throw new ConfigError(`${variable} ${error.message}`)
    throw error
  }
}

const wholeNumber = (min: number, max: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw new BadValue(`must be a whole number from ${min} to ${max}`)
  return value
}

function schedule(text: string) {
  try {
    if (new Cron(text, { paused: true, timezone: 'UTC' }).nextRun()) return text
  } catch {}
  throw new BadValue('must be a cron expression with instants to come, in UTC, such as 0 3 * * *')
}

function retentionDays(text: string) {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value !== 0 && !(value >= 30 && value <= 3650)) throw new BadValue('must be 0, or days from 30 to 3650')
  return value
}

const secondsInYear = 31_536_000
const seconds = (text: string) => wholeNumber(1, secondsInYear)(text) * 1000

const oneOf =
  <T>(values: Record<string, T>) =>
  (text: string): T => {
    if (!Object.hasOwn(values, text)) throw new BadValue(`must be one of: ${Object.keys(values).join(', ')}`)
    return values[text] as T
  }

const listOf =
  <T>(parse: (text: string) => T) =>
  (text: string) =>
    text.split(',').map((part) => parse(part.trim()))

function retryDelays(text: string) {
  const example = 'such as 60,3600,21600'
  const delays = text.split(',').map((part) => (/^\d{1,15}$/.test(part.trim()) ? Number(part) : Number.NaN))
  if (!delays.every((delay) => delay <= secondsInYear))
    throw new BadValue(`must be seconds separated by commas, each from 0 to ${secondsInYear}, ${example}`)
  if (delays.length > 10) throw new BadValue(`must have at most 10 delays, ${example}`)
  return delays.map((delay) => delay * 1000)
}

function key(text: string) {
  const bytes = Buffer.from(text, 'base64')
  const canonical = bytes.toString('base64').replace(/=+$/, '')
  const given = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  if (bytes.length !== 32 || canonical !== given) throw new BadValue('must be 32 bytes in base64')
  return bytes
}

function previousKey(text: string) {
  try {
    return key(text)
  } catch {
    throw new BadValue('must be keys of 32 bytes in base64, separated by commas')
  }
}

function url(text: string) {
  if (!URL.canParse(text)) throw new BadValue('must be a URL')
  return new URL(text)
}

function rootAddress(text: string) {
  const { protocol, origin, hostname, href } = url(text)
  if (protocol !== 'https:' && protocol !== 'http:') throw new BadValue('must be an http or https URL')
  if (href !== `${origin}/`)
    throw new BadValue('must be an origin without path, query or user, like https://baton.example')
  if (protocol === 'http:' && !isLoopback(hostname)) throw new BadValue('must be https unless its host is loopback')
  return origin
}

function listenAddress(text: string) {
  const [, inBrackets, name, port] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = inBrackets ?? name
  if (!host || (inBrackets && !ipaddr.IPv6.isValid(inBrackets)) || Number(port) < 1 || Number(port) > 65_535)
    throw new BadValue('must be a host and a port, such as 127.0.0.1:9464 or [::1]:9464')
  return { host, port: Number(port) }
}

/** Of the host of a URL, or of an address to listen on, in lower case. */
export function isLoopback(hostname: string) {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  return isAddress(address) && ipaddr.parse(address).range() === 'loopback'
}

function postgresUrl(text: string) {
  try {
    urlsOfHosts(text)
    return text
  } catch (error) {
    throw error instanceof DatabaseUrlProblem ? new BadValue(error.message) : error
  }
}

function addressOrRange(text: string) {
  if (!isAddress(text) && !isRange(text))
    throw new BadValue('must be IP addresses or CIDR ranges separated by commas, such as 10.0.0.5,10.1.0.0/16')
  return text
}

const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)

/** /0 contains every address and is always a mistake. */
function isRange(text: string) {
  const [address = '', bits = ''] = text.split('/')
  return isAddress(address) && ipaddr.isValidCIDR(text) && Number(bits) > 0
}

function allowedTarget(text: string): AllowedTarget {
  if (isRange(text)) return { range: text }
  if (ipaddr.IPv6.isValid(text)) return { host: `[${text.toLowerCase()}]`, port: null }
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/i.exec(text) ?? []
  const bare = host?.replace(/^\[|\]$/g, '')
  if (!host || !bare || (host.startsWith('[') && !ipaddr.IPv6.isValid(bare)) || Number(port ?? 1) > 65_535) {
    throw new BadValue(
      'must be hosts, hosts with a port or CIDR ranges separated by commas, such as localhost:4000,10.0.0.0/8',
    )
  }
  return { host: host.toLowerCase(), port: port ? Number(port) : null }
}

/** It is sent in a header. */
function modelKey(text: string) {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new BadValue('must contain only printable ASCII characters, without spaces')
  return text
}

/** US dollars for a million tokens. */
function modelPrice(text: string) {
  const [, input, output] = /^(\d{1,6}(?:\.\d{1,6})?),(\d{1,6}(?:\.\d{1,6})?)$/.exec(text) ?? []
  if (!input || !output) {
    throw new BadValue('must be two prices in US dollars for a million tokens, input and output, such as 2.50,10')
  }
  return { input: Number(input), output: Number(output) }
}

function model(env: Env): Config['model'] {
  const endpoint = read(env, 'BATON_MODEL_URL', null, (text) => {
    const { protocol, username, password } = url(text)
    if (!/^https?:$/.test(protocol)) throw new BadValue('must be an http or https URL')
    if (username || password) throw new BadValue('must not contain a user or password; set BATON_MODEL_KEY instead')
    return text.replace(/\/+$/, '')
  })
  const name = read(env, 'BATON_MODEL', null, String)
  if (endpoint && !name) throw new ConfigError('BATON_MODEL is required with BATON_MODEL_URL')
  if (name && !endpoint) throw new ConfigError('BATON_MODEL_URL is required with BATON_MODEL')
  const key = read(env, 'BATON_MODEL_KEY', null, modelKey)
  if (key && !endpoint) throw new ConfigError('BATON_MODEL_KEY requires BATON_MODEL_URL and BATON_MODEL')
  const price = read(env, 'BATON_MODEL_PRICE', null, modelPrice)
  if (price && !endpoint) throw new ConfigError('BATON_MODEL_PRICE requires BATON_MODEL_URL and BATON_MODEL')
  return endpoint && name ? { url: endpoint, name, key, price } : null
}

function sso(env: Env): SsoConfig {
  const providers = read(env, 'BATON_SSO_FILE', [], (path) => {
    try {
      return readProviders(path, isLoopback)
    } catch (error) {
      throw error instanceof SsoProblem ? new BadValue(error.message) : error
    }
  })
  const only = read(env, 'BATON_SSO_ONLY', false, oneOf({ 0: false, 1: true }))
  if (only && providers.length === 0) throw new ConfigError('BATON_SSO_ONLY=1 requires a provider in BATON_SSO_FILE')
  const breakGlass = read(env, 'BATON_BREAK_GLASS', null, (text) => {
    if (!/^[\x21-\x7e]+@[\x21-\x7e]+$/.test(text)) throw new BadValue('must be an e-mail address')
    return text.toLowerCase()
  })
  return { only, breakGlass, providers }
}

function mail(env: Env): Config['mail'] {
  const server = read(env, 'BATON_SMTP_URL', null, smtpServer)
  const from = read(env, 'BATON_MAIL_FROM', null, sender)
  const user = read(env, 'BATON_SMTP_USER', null, String)
  const password = read(env, 'BATON_SMTP_PASSWORD', null, String)
  const settings = {
    content: read(env, 'BATON_MAIL_CONTENT', 'excerpt', oneOf({ excerpt: 'excerpt', minimal: 'minimal' } as const)),
    ratePerMinute: read(env, 'BATON_MAIL_RATE', 120, wholeNumber(1, 10_000)),
    retryDelaysMs: read(env, 'BATON_MAIL_RETRY_DELAYS', defaultMailDelaysMs, retryDelays),
  }
  if (user && !password) throw new ConfigError('BATON_SMTP_PASSWORD is required with BATON_SMTP_USER')
  if (password && !user) throw new ConfigError('BATON_SMTP_USER is required with BATON_SMTP_PASSWORD')
  if (!server) return null
  if (!from) throw new ConfigError('BATON_MAIL_FROM is required with BATON_SMTP_URL, like Baton <baton@example.com>')
  return { ...server, login: user && password ? { user, password } : null, from, ...settings }
}

function files(env: Env, dataDir: string | null): Config['files'] {
  const path = read(env, 'BATON_FILES_DIR', null, String)
  const bucket = read(env, 'BATON_S3_URL', null, (text) => {
    const { protocol, hostname, username, password, search, hash, href } = url(text)
    if (username || password)
      throw new BadValue('must not contain a key; set BATON_S3_KEY_ID and BATON_S3_SECRET instead')
    if (search || hash) throw new BadValue('must be the URL of a bucket, without query')
    if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname)))
      throw new BadValue('must be https unless its host is loopback')
    return href.replace(/\/*$/, '/')
  })
  const region = read(env, 'BATON_S3_REGION', null, String)
  const keyId = read(env, 'BATON_S3_KEY_ID', null, String)
  const secret = read(env, 'BATON_S3_SECRET', null, String)
  if (!bucket) {
    for (const [name, value] of Object.entries({ REGION: region, KEY_ID: keyId, SECRET: secret }))
      if (value) throw new ConfigError(`BATON_S3_${name} requires BATON_S3_URL`)
    if (path) return { kind: 'directory', path }
    return dataDir ? { kind: 'directory', path: join(dataDir, 'files') } : null
  }
  if (!region) throw new ConfigError('BATON_S3_REGION is required with BATON_S3_URL, such as us-east-1')
  if (!keyId) throw new ConfigError('BATON_S3_KEY_ID is required with BATON_S3_URL')
  if (!secret) throw new ConfigError('BATON_S3_SECRET is required with BATON_S3_URL')
  return { kind: 's3', url: bucket, region, keyId, secret }
}

const defaultMailDelaysMs = [60, 300, 900, 3600, 14_400, 43_200].map((delay) => delay * 1000)

function smtpServer(text: string): Pick<MailConfig, 'host' | 'port' | 'security'> {
  const { protocol, username, password, hostname, port, pathname, search, hash } = url(text)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') throw new BadValue('must be an smtp:// or smtps:// URL')
  if (username || password || text.includes('@'))
    throw new BadValue('must not contain a user or password; set BATON_SMTP_USER and BATON_SMTP_PASSWORD instead')
  if (!hostname || !/^\/?$/.test(pathname) || search || hash)
    throw new BadValue('must have a host and a port only, like smtp://mail.example.com:587')
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (protocol === 'smtps:') return { host, port: Number(port || 465), security: 'tls' }
  // Names below `localhost` are resolved by DNS on some systems, so they are not trusted to be this machine.
  const local = host === 'localhost' || (isAddress(host) && isLoopback(host))
  return { host, port: Number(port || 587), security: local ? 'plain' : 'starttls' }
}

/** `Name <address>`, or an address alone. */
function sender(text: string): MailConfig['from'] {
  const [, name = '', bracketed, bare] = /^(?:"?([^"<>\p{Cc}]*?)"?\s*<([^<>\s]+)>|([^<>\s"]+))$/u.exec(text) ?? []
  const address = bracketed ?? bare ?? ''
  if (!/^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(address) || address.length > 254)
    throw new BadValue('must be of the form Name <address>')
  return { name: name || 'Baton', address }
}

/** Variables of this process that look like a setting but are none. */
export const ignoredVariables = (): string[] => unknownVariables(process.env)
