import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { RequirementId } from '../../conformance/requirements.ts'
import { verifies } from '../../conformance/requirements.ts'
import { ConfigError, readConfig, unknownVariables, withPort } from './config.ts'

const key = randomBytes(32)
const base64 = key.toString('base64')
const postgres = { DATABASE_URL: 'postgres://baton@db.example/baton', BATON_SECRET_KEY: base64 }

test(
  'every variable has a default',
  verifies('config.listen-address-default', 'config.root-url-default', 'config.addresses-follow-root-url'),
  () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      rootUrl: 'http://localhost:3000',
      baseUrl: 'http://localhost:3000/api/v1',
      mcpUrl: 'http://localhost:3000/mcp',
      appUrl: 'http://localhost:3000',
      local: true,
      database: { kind: 'embedded', dataDir: './.baton' },
      secretKey: null,
      previousSecretKeys: [],
      role: 'all',
      stopDelayMs: 0,
      webhookAllow: [],
      retryDelaysMs: [60_000, 3_600_000, 21_600_000],
      staleAfterMs: 1_800_000,
      stoppingTimeoutMs: 60_000,
      unresponsiveAfterMs: 10_000,
      sessionRatePerSecond: 10,
      installationRatePerMinute: 600,
      apiRatePerMinute: 1200,
      webhookLimit: 20,
      demo: true,
      signup: 'open',
      trustProxy: [],
      sso: { only: false, breakGlass: null, providers: [] },
      model: null,
      mail: null,
      files: { kind: 'directory', path: '.baton/files' },
      fileBytes: 52_428_800,
      workspaceBytes: 10 * 1024 ** 3,
      deletionDays: 14,
      metricsListen: null,
      slowMs: 500,
      operateSocket: null,
      keepDays: { audit: 0, sessions: 0, inbox: 0 },
      backup: { dir: null, at: '0 3 * * *', keep: 14 },
    })
  },
)

test(
  'the root URL follows the port, and the addresses follow the root URL',
  verifies('config.addresses-follow-root-url'),
  () => {
    expect(readConfig({ PORT: '4000' }).rootUrl).toBe('http://localhost:4000')
    expect(readConfig({ PORT: '80' }).rootUrl).toBe('http://localhost')
    expect(readConfig({ BATON_ROOT_URL: 'https://Baton.Example/' })).toMatchObject({
      rootUrl: 'https://baton.example',
      baseUrl: 'https://baton.example/api/v1',
      mcpUrl: 'https://baton.example/mcp',
      appUrl: 'https://baton.example',
    })
  },
)

test('defaults that depend on where it runs', verifies('demo.passwords-disabled'), () => {
  expect(readConfig({ BATON_ROOT_URL: 'https://baton.example' })).toMatchObject({ demo: false, signup: 'invite' })
  expect(readConfig(postgres)).toMatchObject({ demo: false, signup: 'open', database: { kind: 'postgres' } })
  expect(readConfig({ ...postgres, BATON_DEMO: '1' }).demo).toBe(true)
  // A service without a demo disables the accounts of one that its database has.
  expect(readConfig({ BATON_DEMO: '0' }).demo).toBe(false)
})

describe('the demo and open sign-up are for loopback', () => {
  test.for(['localhost', 'LOCALHOST', 'baton.localhost', '127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1'])(
    'HOST=%s is loopback',
    verifies('demo.loopback-only', 'signup.closed-off-loopback'),
    (HOST) => {
      expect(readConfig({ HOST })).toMatchObject({ local: true, demo: true, signup: 'open' })
      expect(readConfig({ HOST, BATON_DEMO: '1' }).demo).toBe(true)
    },
  )

  test.for(['0.0.0.0', '::', '192.168.0.7', '128.0.0.1', '126.255.255.255', 'fd00::1', 'baton.example', '0', '127.1'])(
    'HOST=%s is not',
    verifies('demo.loopback-only', 'signup.closed-off-loopback'),
    (HOST) => {
      expect(readConfig({ HOST })).toMatchObject({ local: false, demo: false, signup: 'invite' })
      expect(readConfig({ HOST, BATON_SIGNUP: 'open' })).toMatchObject({ demo: false, signup: 'open' })
      expect(() => readConfig({ HOST, BATON_DEMO: '1' })).toThrow(/^BATON_DEMO=1 requires a loopback HOST[^\n]*$/)
      // A loopback root URL does not make up for it.
      expect(readConfig({ HOST, BATON_ROOT_URL: 'http://localhost:3000' }).demo).toBe(false)
    },
  )
})

test('the default root URL of PORT=0 gets the port that it listens on', verifies('config.port-zero'), () => {
  expect(withPort(readConfig({ PORT: '0' }), 4321)).toEqual(readConfig({ PORT: '4321' }))
  expect(withPort(readConfig({ PORT: '0' }), 80).rootUrl).toBe('http://localhost')
  const proxied = readConfig({ PORT: '0', BATON_ROOT_URL: 'https://baton.example' })
  expect(withPort(proxied, 4321)).toEqual({ ...proxied, port: 4321 })
})

test('BATON_METRICS_LISTEN is a host and a port', verifies('settings.metrics-listen'), () => {
  const listen = (text: string) => readConfig({ BATON_METRICS_LISTEN: text }).metricsListen
  expect(listen('127.0.0.1:9464')).toEqual({ host: '127.0.0.1', port: 9464 })
  expect(listen('[::1]:1')).toEqual({ host: '::1', port: 1 })
  expect(listen('metrics.internal:65535')).toEqual({ host: 'metrics.internal', port: 65535 })
  for (const bad of ['9464', ':9464', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', '[::g]:1', '::1:9464', 'a b:1']) {
    expect(() => listen(bad), bad).toThrow(/^BATON_METRICS_LISTEN must be a host and a port[^\n]*$/)
  }
})

test('BATON_SLOW_MS is a number of milliseconds, or 0 for never', verifies('log.slow-statement'), () => {
  expect(readConfig({ BATON_SLOW_MS: '0' }).slowMs).toBe(0)
  expect(readConfig({ BATON_SLOW_MS: '3600000' }).slowMs).toBe(3_600_000)
  for (const bad of ['-1', '3600001', '0.5', 'never']) {
    expect(() => readConfig({ BATON_SLOW_MS: bad }), bad).toThrow(/^BATON_SLOW_MS must be a whole number/)
  }
})

test('names unknown variables that begin with BATON_', verifies('config.unknown-variable-warns'), () => {
  const known = Object.fromEntries(
    [...readFileSync(new URL('../../docs/guides/running.md', import.meta.url), 'utf8').matchAll(/`(BATON_\w+)`/g)].map(
      ([, name]) => [name, ''],
    ),
  )
  expect(Object.keys(known).length).toBeGreaterThan(20)
  expect(unknownVariables(known)).toEqual([])
  expect(unknownVariables({ ...known, BATON_SIGN_UP: 'invite', BATON_A: '', BATONS: '1', HOME: '/' })).toEqual([
    'BATON_A',
    'BATON_SIGN_UP',
  ])
})

describe('accepts', () => {
  test.for([
    ['http://localhost:8080'],
    ['http://127.0.0.1:8080'],
    ['http://127.8.9.1'],
    ['http://[::1]:3000'],
    ['http://baton.localhost'],
    ['https://baton.example'],
    ['https://10.0.0.7'],
  ])('BATON_ROOT_URL=%s', verifies('config.root-url-http-loopback-accepted'), ([url]) => {
    expect(readConfig({ BATON_ROOT_URL: url as string }).rootUrl).toBe(url)
  })

  test('roles', verifies('config.role-values'), () => {
    for (const role of ['all', 'api', 'worker']) expect(readConfig({ BATON_ROLE: role }).role).toBe(role)
  })

  test('keys, in both alphabets', () => {
    const previous = randomBytes(32)
    const config = readConfig({
      BATON_SECRET_KEY: key.toString('base64url'),
      BATON_SECRET_KEY_PREVIOUS: `${previous.toString('base64')}, ${base64}`,
    })
    expect(config.secretKey).toEqual(key)
    expect(config.previousSecretKeys).toEqual([previous, key])
  })

  test('targets that webhooks may reach', () => {
    const text = 'Internal.example, my_receiver:4000, 10.1.2.3:8080, [fd00::1]:9000, ::1, 192.168.0.0/16, fd00::/8'
    expect(readConfig({ BATON_WEBHOOK_ALLOW: text }).webhookAllow).toEqual([
      { host: 'internal.example', port: null },
      { host: 'my_receiver', port: 4000 },
      { host: '10.1.2.3', port: 8080 },
      { host: '[fd00::1]', port: 9000 },
      { host: '[::1]', port: null },
      { range: '192.168.0.0/16' },
      { range: 'fd00::/8' },
    ])
  })

  test('numbers, durations and lists', () => {
    const config = readConfig({
      BATON_RETRY_DELAYS: '1, 2,0',
      BATON_STALE_AFTER: '60',
      BATON_STOPPING_TIMEOUT: '5',
      BATON_UNRESPONSIVE_AFTER: '1',
      BATON_SESSION_RATE: '1000',
      BATON_INSTALLATION_RATE: '60000',
      BATON_API_RATE: '1',
      BATON_WEBHOOK_LIMIT: '0',
      BATON_TRUST_PROXY: '10.0.0.1, fd00::/8',
    })
    expect(config).toMatchObject({
      retryDelaysMs: [1000, 2000, 0],
      staleAfterMs: 60_000,
      stoppingTimeoutMs: 5000,
      unresponsiveAfterMs: 1000,
      sessionRatePerSecond: 1000,
      installationRatePerMinute: 60_000,
      apiRatePerMinute: 1,
      webhookLimit: 0,
      trustProxy: ['10.0.0.1', 'fd00::/8'],
    })
  })

  test('a model', () => {
    const model = { BATON_MODEL_URL: 'http://127.0.0.1:8000/v1/', BATON_MODEL: 'small' }
    expect(readConfig(model).model).toEqual({ url: 'http://127.0.0.1:8000/v1', name: 'small', key: null, price: null })
    expect(readConfig({ ...model, BATON_MODEL_KEY: 'k' }).model?.key).toBe('k')
    expect(readConfig({ ...model, BATON_MODEL_PRICE: '2.50,10' }).model?.price).toEqual({ input: 2.5, output: 10 })
  })

  test('a mail server', () => {
    const from = { BATON_MAIL_FROM: 'Baton at Acme <baton@acme.example>' }
    const mail = (url: string, more = {}) => readConfig({ ...from, BATON_SMTP_URL: url, ...more }).mail
    expect(mail('smtp://mail.example')).toEqual({
      host: 'mail.example',
      port: 587,
      security: 'starttls',
      login: null,
      from: { name: 'Baton at Acme', address: 'baton@acme.example' },
      content: 'excerpt',
      ratePerMinute: 120,
      retryDelaysMs: [60_000, 300_000, 900_000, 3_600_000, 14_400_000, 43_200_000],
    })
    expect(mail('smtps://mail.example')).toMatchObject({ port: 465, security: 'tls' })
    expect(mail('smtps://localhost:4650')).toMatchObject({ host: 'localhost', port: 4650, security: 'tls' })
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      expect(mail(`smtp://${host}:25`)).toMatchObject({ port: 25, security: 'plain' })
    for (const host of ['10.0.0.7', 'mail.localhost', '0.0.0.0', 'localhost.example'])
      expect(mail(`smtp://${host}:25`)).toMatchObject({ security: 'starttls' })
    const login = { BATON_SMTP_USER: 'ada', BATON_SMTP_PASSWORD: 'p:a@ss' }
    expect(mail('smtp://mail.example', login)?.login).toEqual({ user: 'ada', password: 'p:a@ss' })
    expect(
      mail('smtp://mail.example', {
        BATON_MAIL_CONTENT: 'minimal',
        BATON_MAIL_RATE: '1',
        BATON_MAIL_RETRY_DELAYS: '1,2',
      }),
    ).toMatchObject({ content: 'minimal', ratePerMinute: 1, retryDelaysMs: [1000, 2000] })
    expect(mail('smtp://mail.example', { BATON_MAIL_FROM: 'baton@acme.example' })?.from).toEqual({
      name: 'Baton',
      address: 'baton@acme.example',
    })
    expect(mail('smtp://mail.example', { BATON_MAIL_FROM: '"Acme, Inc" <a@b.example>' })?.from.name).toBe('Acme, Inc')
  })

  test('an empty value is the same as none', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '', BATON_ROLE: ' ' })).toEqual(readConfig({}))
  })
})

describe('refuses, in one line that names the variable', () => {
  const bad: [name: string, value: string, ...ids: RequirementId[]][] = [
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['BATON_ROOT_URL', 'http://baton.example', 'config.root-url-http-public-refused'],
    ['BATON_ROOT_URL', 'http://10.0.0.7', 'config.root-url-http-public-refused'],
    ['BATON_ROOT_URL', 'ftp://localhost'],
    ['BATON_ROOT_URL', 'baton.example'],
    ['BATON_ROOT_URL', 'https://baton.example/path'],
    ['BATON_ROOT_URL', 'https://user@baton.example'],
    ['DATABASE_URL', 'mysql://db.example'],
    ['DATABASE_URL', 'nonsense'],
    ['DATABASE_URL', 'postgres://u@a,b,c,d,e,f/baton', 'ha.multi-host-url'],
    ['DATABASE_URL', 'postgres://u@a:5432,/baton', 'ha.multi-host-url'],
    ['DATABASE_URL', 'postgres://u@a,b:port/baton', 'ha.multi-host-url'],
    ['DATABASE_URL', 'postgres://u@a,b/baton?target_session_attrs=any', 'ha.multi-host-url'],
    ['DATABASE_URL', 'postgres://u@a/baton?target_session_attrs=primary', 'ha.multi-host-url'],
    ['DATABASE_URL', 'postgres://u@a,b/baton?port=5432', 'ha.multi-host-url'],
    ['BATON_SECRET_KEY', 'short', 'config.secret-key-bad-length'],
    ['BATON_SECRET_KEY', randomBytes(31).toString('base64'), 'config.secret-key-bad-length'],
    ['BATON_SECRET_KEY', randomBytes(33).toString('base64'), 'config.secret-key-bad-length'],
    ['BATON_SECRET_KEY', '!'.repeat(43), 'config.secret-key-bad-length'],
    ['BATON_SECRET_KEY_PREVIOUS', `${base64},short`],
    ['BATON_ROLE', 'everything', 'config.role-values'],
    ['BATON_ROLE', 'toString', 'config.role-values'],
    ['BATON_WEBHOOK_ALLOW', 'http://internal.example'],
    ['BATON_WEBHOOK_ALLOW', 'host:99999'],
    ['BATON_WEBHOOK_ALLOW', '10.0.0.0/99'],
    ['BATON_WEBHOOK_ALLOW', 'a,,b'],
    ['BATON_RETRY_DELAYS', 'x'],
    ['BATON_RETRY_DELAYS', '60,-1'],
    ['BATON_RETRY_DELAYS', '1,2,3,4,5,6,7,8,9,10,11'],
    ['BATON_STALE_AFTER', '0'],
    ['BATON_STOPPING_TIMEOUT', 'soon'],
    ['BATON_UNRESPONSIVE_AFTER', '-5'],
    ['BATON_SESSION_RATE', 'abc'],
    ['BATON_INSTALLATION_RATE', '0'],
    ['BATON_API_RATE', '1.5'],
    ['BATON_WEBHOOK_LIMIT', '-1'],
    ['BATON_DEMO', 'yes'],
    ['BATON_SIGNUP', 'closed'],
    ['BATON_TRUST_PROXY', 'proxy.example'],
    ['BATON_TRUST_PROXY', 'true'],
    ['BATON_TRUST_PROXY', '0.0.0.0/0'],
    ['BATON_TRUST_PROXY', '::/0'],
    ['BATON_TRUST_PROXY', '10.1'],
    ['BATON_SMTP_URL', 'mail.example'],
    ['BATON_SMTP_URL', 'https://mail.example'],
    ['BATON_SMTP_URL', 'smtp://mail.example/path'],
    ['BATON_SMTP_URL', 'smtp://ada@mail.example', 'mail.config-no-user-in-url'],
    ['BATON_SMTP_URL', 'smtp://ada:secret@mail.example:587', 'mail.config-no-user-in-url'],
    ['BATON_SMTP_URL', 'smtps://:secret@mail.example', 'mail.config-no-user-in-url'],
    ['BATON_SMTP_USER', 'ada', 'mail.config-no-user-in-url'],
    ['BATON_SMTP_PASSWORD', 'secret', 'mail.config-no-user-in-url'],
    ['BATON_MAIL_FROM', 'Baton'],
    ['BATON_MAIL_FROM', 'Baton <baton>'],
    ['BATON_MAIL_FROM', 'Baton <a@b.example>, <c@d.example>'],
    ['BATON_MAIL_FROM', 'Ba\rton <a@b.example>'],
    ['BATON_MAIL_CONTENT', 'all'],
    ['BATON_MAIL_RATE', '0'],
    ['BATON_MAIL_RETRY_DELAYS', '60,soon'],
    ['BATON_MODEL_URL', 'nonsense'],
    ['BATON_MODEL_URL', 'https://user:password@model.example/v1'],
    ['BATON_MODEL', 'small'],
    ['BATON_MODEL_KEY', 'sk-1'],
    ['BATON_MODEL_KEY', 'two words'],
    ['BATON_MODEL_PRICE', '1,2'],
    ['BATON_MODEL_PRICE', '1'],
    ['BATON_MODEL_PRICE', '-1,2'],
  ]
  for (const [name, value, ...ids] of bad) {
    test(`${name}=${value}`, verifies('config.bad-value-stops-start', ...ids), () => {
      const refuse = () => readConfig({ [name]: value })
      expect(refuse).toThrow(ConfigError)
      expect(refuse).toThrow(new RegExp(`^[^\\n]*${name}[^\\n]*$`))
    })
  }

  test('a list, with an example of a valid one', () => {
    for (const name of ['BATON_RETRY_DELAYS', 'BATON_WEBHOOK_ALLOW', 'BATON_TRUST_PROXY']) {
      let message = ''
      try {
        readConfig({ [name]: '?, !' })
      } catch (error) {
        message = (error as Error).message
      }
      const [, example = ''] = /separated by commas.*such as (\S+)$/.exec(message) ?? []
      expect({ name, message, example }).toMatchObject({ example: expect.stringContaining(',') })
      expect(() => readConfig({ [name]: example })).not.toThrow()
    }
  })

  test('DATABASE_URL without BATON_SECRET_KEY', verifies('config.secret-key-required-with-database-url'), () => {
    expect(() => readConfig({ DATABASE_URL: postgres.DATABASE_URL })).toThrow(/^BATON_SECRET_KEY is required/)
  })

  test('the demo, whose passwords are public, on a public address', verifies('demo.loopback-only'), () => {
    expect(() => readConfig({ BATON_ROOT_URL: 'https://baton.example', BATON_DEMO: '1' })).toThrow(/^BATON_DEMO/)
  })

  test('a mail server without a sender', verifies('mail.config-from-required'), () => {
    const refuse = () => readConfig({ BATON_SMTP_URL: 'smtp://mail.example' })
    expect(refuse).toThrow(ConfigError)
    expect(refuse).toThrow(/^BATON_MAIL_FROM is required[^\n]*$/)
  })

  test('a user and a password without each other', verifies('mail.config-no-user-in-url'), () => {
    const mail = { BATON_SMTP_URL: 'smtp://mail.example', BATON_MAIL_FROM: 'Baton <a@b.example>' }
    expect(() => readConfig({ ...mail, BATON_SMTP_USER: 'ada' })).toThrow(/^BATON_SMTP_PASSWORD is required[^\n]*$/)
    expect(() => readConfig({ ...mail, BATON_SMTP_PASSWORD: 'x' })).toThrow(/^BATON_SMTP_USER is required[^\n]*$/)
  })

  test('a model without its name', () => {
    expect(() => readConfig({ BATON_MODEL_URL: 'https://model.example' })).toThrow(/^BATON_MODEL is required/)
  })
})
