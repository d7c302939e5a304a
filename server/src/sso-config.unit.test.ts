import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type RequirementId, verifies } from '../../conformance/requirements.ts'
import { ConfigError, readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-sso-config-'))
let files = 0

function write(content: unknown): string {
  const path = join(folder, `${++files}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const company = { id: 'company', issuer: 'https://id.example.com', client_id: 'baton', client_secret: 'secret' }
const read = (...providers: unknown[]) => readConfig({ BATON_SSO_FILE: write({ providers }) }).sso

/** The one line that the operator sees. */
function problemOf(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).not.toContain('\n')
    return (error as Error).message
  }
  return 'none'
}

test('a provider has defaults', () => {
  expect(read(company)).toEqual({
    only: false,
    breakGlass: null,
    providers: [
      {
        id: 'company',
        name: 'company',
        issuer: 'https://id.example.com',
        clientId: 'baton',
        clientSecret: 'secret',
        scopes: ['openid', 'profile', 'email'],
        allowedDomains: [],
        allowedGroups: [],
        groupsClaim: 'groups',
        signUp: 'invited',
        join: [],
        emailIsVerified: false,
        loginHours: 168,
      },
    ],
  })
  expect(readConfig({}).sso).toEqual({ only: false, breakGlass: null, providers: [] })
})

test('sign-up is open to allowed domains or groups unless it is set', () => {
  const signUp = (settings: object) => read({ ...company, ...settings }).providers[0]?.signUp
  expect(signUp({ allowed_domains: ['Example.com'] })).toBe('yes')
  expect(signUp({ allowed_groups: ['staff'] })).toBe('yes')
  expect(signUp({ allowed_domains: ['example.com'], sign_up: 'no' })).toBe('no')
})

test('the client secret can be in a file beside it', () => {
  writeFileSync(join(folder, 'secret'), 'from a file\n')
  const { client_secret: _, ...rest } = company
  expect(read({ ...rest, client_secret_file: 'secret' }).providers[0]?.clientSecret).toBe('from a file')
})

describe('stops the start', () => {
  const bad: [what: string, change: object, message: RegExp, ...ids: RequirementId[]][] = [
    ['an unknown key', { colour: 'red' }, /unknown key colour/],
    ['no issuer', { issuer: undefined }, /issuer is required/],
    ['no client id', { client_id: undefined }, /client_id is required/],
    ['no secret', { client_secret: undefined }, /client_secret or client_secret_file/],
    ['two secrets', { client_secret_file: 'secret' }, /client_secret or client_secret_file/],
    ['a missing secret file', { client_secret: undefined, client_secret_file: 'gone' }, /cannot be read: ENOENT/],
    ['an id with capitals', { id: 'Company' }, /id must have/],
    ['an id of 33 characters', { id: 'a'.repeat(33) }, /id must have/],
    ['an empty id', { id: '' }, /id must be/],
    ['login_hours 0', { login_hours: 0 }, /1 to 720/],
    ['login_hours 721', { login_hours: 721 }, /1 to 720/],
    ['scopes without openid', { scopes: ['email'] }, /include openid/],
    ['a domain with an @', { allowed_domains: ['@example.com'] }, /allowed_domains/],
    ['an unknown sign_up', { sign_up: 'all' }, /sign_up must be one of/],
    ['an issuer of http', { issuer: 'http://id.example.com' }, /must be https/, 'sso.config-issuer-https'],
    ['an issuer that is no URL', { issuer: 'id.example.com' }, /must be a URL/],
    ['an issuer of another scheme', { issuer: 'file:///etc/passwd' }, /must be https/, 'sso.config-issuer-https'],
    ...(['common', 'organizations', 'consumers'] as const).map((tenant): [string, object, RegExp, RequirementId] => [
      `verified addresses of ${tenant}`,
      { issuer: `https://login.example.com/${tenant}/v2.0`, email_is_verified: true },
      /many tenants/,
      'sso.config-multi-tenant-refused',
    ]),
    [
      'an owner by join',
      { join: [{ workspace_id: 'wsp_1', role: 'owner' }] },
      /role must be member or admin/,
      'sso.config-join-never-owner',
    ],
  ]
  for (const [what, change, message, ...ids] of bad) {
    test(what, verifies('sso.config-bad-provider-stops-start', ...ids), () => {
      const problem = problemOf({ BATON_SSO_FILE: write({ providers: [{ ...company, ...change }] }) })
      expect(problem).toMatch(/^BATON_SSO_FILE provider "/)
      expect(problem).toMatch(message)
    })
  }

  test('a wrong file', verifies('sso.config-bad-provider-stops-start'), () => {
    expect(problemOf({ BATON_SSO_ONLY: '1' })).toBe('BATON_SSO_ONLY=1 requires a provider in BATON_SSO_FILE')
    expect(problemOf({ BATON_SSO_FILE: join(folder, 'gone.json') })).toBe('BATON_SSO_FILE cannot be read: ENOENT')
    // The message of the parser could quote a secret.
    expect(problemOf({ BATON_SSO_FILE: write('{"client_secret": "hidden') })).not.toContain('hidden')
    expect(problemOf({ BATON_SSO_FILE: write({ providers: [company, company] }) })).toContain('used twice')
    expect(problemOf({ BATON_SSO_FILE: write({ providers: Array(11).fill(company) }) })).toContain('1 to 10')
    expect(problemOf({ BATON_BREAK_GLASS: 'ada' })).toContain('BATON_BREAK_GLASS must be an e-mail address')
  })
})

test(
  'accepts the other side of each limit',
  verifies('sso.config-issuer-https', 'sso.config-multi-tenant-refused', 'sso.config-join-never-owner'),
  () => {
    for (const change of [
      { id: 'a'.repeat(32) },
      { login_hours: 1 },
      { login_hours: 720 },
      { issuer: 'http://localhost:8080/realms/acme' },
      { issuer: 'http://127.0.0.1:8080' },
      { issuer: 'https://login.example.com/common/v2.0', email_is_verified: false },
      { issuer: 'https://login.example.com/8f1c/v2.0', email_is_verified: true },
      { join: [{ workspace_id: 'wsp_1', role: 'admin' }] },
    ]) {
      expect(read({ ...company, ...change }).providers).toHaveLength(1)
    }
  },
)
