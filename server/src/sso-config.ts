import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** An identity provider, as the operator configured it. */
export interface Provider {
  id: string
  name: string
  issuer: string
  clientId: string
  clientSecret: string
  scopes: string[]
  /** In lower case. */
  allowedDomains: string[]
  allowedGroups: string[]
  groupsClaim: string
  signUp: 'yes' | 'invited' | 'no'
  join: { workspaceId: string; role: 'member' | 'admin' }[]
  emailIsVerified: boolean
  loginHours: number
}

export interface SsoConfig {
  /** Other sign-in methods are refused. */
  only: boolean
  /** E-mail of the account that keeps its password in SSO-only mode, in lower case. */
  breakGlass: string | null
  providers: Provider[]
}

/** What is wrong with a value; config.ts adds the name of the variable. */
export class SsoProblem extends Error {}

const maxProviders = 10

/** Reads the file of providers. `isLoopback` decides which hosts may be http. */
export function readProviders(path: string, isLoopback: (hostname: string) => boolean): Provider[] {
  const file = parsed(path)
  const { providers, ...others } = isObject(file) ? file : { providers: undefined }
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new SsoProblem(`has the unknown key ${unknown}`)
  if (!Array.isArray(providers) || providers.length === 0 || providers.length > maxProviders) {
    throw new SsoProblem(`must contain {"providers": […]} with 1 to ${maxProviders} providers`)
  }
  const read = providers.map((value, index) => {
    try {
      return provider(value, dirname(resolve(path)), isLoopback)
    } catch (error) {
      if (!(error instanceof SsoProblem)) throw error
      const id = isObject(value) && typeof value.id === 'string' ? value.id.slice(0, 40) : String(index + 1)
      throw new SsoProblem(`provider ${JSON.stringify(id)}: ${error.message}`)
    }
  })
  const twice = read.find(({ id }, index) => read.findIndex((other) => other.id === id) < index)
  if (twice) throw new SsoProblem(`provider "${twice.id}": the id is used twice`)
  return read
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    // The message of a syntax error can quote the file, which contains secrets.
    if (error instanceof SyntaxError) throw new SsoProblem('must be a file that contains JSON')
    throw new SsoProblem(`cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const keys = [
  'id',
  'name',
  'issuer',
  'client_id',
  'client_secret',
  'client_secret_file',
  'scopes',
  'allowed_domains',
  'allowed_groups',
  'groups_claim',
  'sign_up',
  'join',
  'email_is_verified',
  'login_hours',
]

function provider(value: unknown, folder: string, isLoopback: (hostname: string) => boolean): Provider {
  if (!isObject(value)) throw new SsoProblem('must be an object')
  const unknown = Object.keys(value).find((key) => !keys.includes(key))
  if (unknown !== undefined) throw new SsoProblem(`has the unknown key ${unknown}`)
  const id = string(value, 'id')
  if (!/^[a-z0-9-]{1,32}$/.test(id)) throw new SsoProblem('id must have 1 to 32 characters of a-z, 0-9 and -')
  const issuer = issuerOf(value, isLoopback)
  const allowedDomains = strings(value, 'allowed_domains').map((domain) => domain.toLowerCase())
  const badDomain = allowedDomains.find((domain) => !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(domain))
  if (badDomain !== undefined) throw new SsoProblem('allowed_domains must contain names such as example.com')
  const allowedGroups = strings(value, 'allowed_groups')
  const isRestricted = allowedDomains.length > 0 || allowedGroups.length > 0
  return {
    id,
    name: value.name === undefined ? id : string(value, 'name', 80),
    issuer,
    clientId: string(value, 'client_id'),
    clientSecret: secretOf(value, folder),
    scopes: scopesOf(value),
    allowedDomains,
    allowedGroups,
    groupsClaim: value.groups_claim === undefined ? 'groups' : string(value, 'groups_claim'),
    signUp: value.sign_up === undefined ? (isRestricted ? 'yes' : 'invited') : signUpOf(value.sign_up),
    join: joinOf(value.join),
    emailIsVerified: emailIsVerifiedOf(value, issuer),
    loginHours: loginHoursOf(value.login_hours),
  }
}

function issuerOf(value: Record<string, unknown>, isLoopback: (hostname: string) => boolean): string {
  const issuer = string(value, 'issuer', 2048)
  if (!URL.canParse(issuer)) throw new SsoProblem('issuer must be a URL')
  const { protocol, hostname, username, password, search, hash } = new URL(issuer)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw new SsoProblem('issuer must be https unless its host is loopback')
  }
  if (username || password || search || hash) throw new SsoProblem('issuer must have no user, query or fragment')
  return issuer
}

/** Issuers of many tenants: each tenant decides which addresses its users have, so none of them proves an address. */
const multiTenant = /\/(common|organizations|consumers)(\/|$)/i

function emailIsVerifiedOf(value: Record<string, unknown>, issuer: string): boolean {
  const { email_is_verified: verified = false } = value
  if (typeof verified !== 'boolean') throw new SsoProblem('email_is_verified must be true or false')
  if (verified && multiTenant.test(new URL(issuer).pathname)) {
    throw new SsoProblem('email_is_verified must be false for an issuer of many tenants; use the issuer of your tenant')
  }
  return verified
}

function secretOf(value: Record<string, unknown>, folder: string): string {
  const { client_secret: secret, client_secret_file: file } = value
  if ((secret === undefined) === (file === undefined)) {
    throw new SsoProblem('needs either client_secret or client_secret_file')
  }
  if (secret !== undefined) return string(value, 'client_secret', 2048)
  try {
    const read = readFileSync(resolve(folder, string(value, 'client_secret_file', 4096)), 'utf8').trim()
    if (read !== '') return read
  } catch (error) {
    if (error instanceof SsoProblem) throw error
    throw new SsoProblem(`client_secret_file cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  throw new SsoProblem('client_secret_file is empty')
}

function scopesOf(value: Record<string, unknown>): string[] {
  if (value.scopes === undefined) return ['openid', 'profile', 'email']
  const scopes = typeof value.scopes === 'string' ? value.scopes.split(' ').filter(Boolean) : strings(value, 'scopes')
  if (!scopes.includes('openid')) throw new SsoProblem('scopes must include openid')
  if (scopes.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
    throw new SsoProblem('scopes must contain names without spaces')
  }
  return scopes
}

function signUpOf(value: unknown): Provider['signUp'] {
  if (value === 'yes' || value === 'invited' || value === 'no') return value
  throw new SsoProblem('sign_up must be one of: yes, invited, no')
}

function joinOf(value: unknown): Provider['join'] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > 100) throw new SsoProblem('join must be a list of at most 100 workspaces')
  const joins = value.map((entry) => {
    const { workspace_id: workspaceId, role, ...others } = isObject(entry) ? entry : {}
    if (typeof workspaceId !== 'string' || !/^wsp_\w{1,60}$/.test(workspaceId) || Object.keys(others).length > 0) {
      throw new SsoProblem('join must contain entries of the form {"workspace_id": "wsp_…", "role": "member"}')
    }
    // An owner could remove the others, so only an owner makes an owner.
    if (role !== 'member' && role !== 'admin') throw new SsoProblem('join: role must be member or admin')
    return { workspaceId, role: role as 'member' | 'admin' }
  })
  if (new Set(joins.map(({ workspaceId }) => workspaceId)).size < joins.length) {
    throw new SsoProblem('join contains a workspace twice')
  }
  return joins
}

function loginHoursOf(value: unknown): number {
  if (value === undefined) return 168
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 720) return value
  throw new SsoProblem('login_hours must be a whole number from 1 to 720')
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function string(value: Record<string, unknown>, key: string, maxLength = 255): string {
  const text = value[key]
  if (text === undefined) throw new SsoProblem(`${key} is required`)
  if (typeof text !== 'string' || text.trim() === '' || text.length > maxLength) {
    throw new SsoProblem(`${key} must be a text of 1 to ${maxLength} characters`)
  }
  return text.trim()
}

function strings(value: Record<string, unknown>, key: string): string[] {
  const list = value[key] ?? []
  if (!Array.isArray(list) || list.length > 100 || !list.every((item) => typeof item === 'string' && item !== '')) {
    throw new SsoProblem(`${key} must be a list of at most 100 texts`)
  }
  return list
}
