import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { filledDataDir } from '../test/empty-databases.ts'
import { freePort, ServiceProcess } from '../test/service-process.ts'
import { ConfigError, readConfig, unknownVariables } from './config.ts'
import { warningsOf } from './warnings.ts'

const key = () => randomBytes(32).toString('base64')

describe('a setting in a file', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'baton-settings-'))
  })
  afterEach(() => rmSync(dir, { recursive: true }))

  const file = (text: string | Buffer, mode = 0o400) => {
    const path = join(dir, randomBytes(6).toString('hex'))
    writeFileSync(path, text, { mode: 0o600 })
    chmodSync(path, mode)
    return path
  }
  const bytesOf = (text: string) => Buffer.from(text, 'base64')
  const mail = { BATON_SMTP_URL: 'smtp://localhost', BATON_MAIL_FROM: 'b@example.com', BATON_SMTP_USER: 'baton' }
  const model = { BATON_MODEL_URL: 'https://model.example', BATON_MODEL: 'm' }
  const bucket = { BATON_S3_URL: 'https://s3.example/b', BATON_S3_REGION: 'r', BATON_S3_KEY_ID: 'k' }

  test('is the text of the file without its last line break', verifies('settings.file-variant'), () => {
    const [current, previous, other] = [key(), key(), key()]
    const database = 'postgres://baton:secret@db.example/baton'
    const config = readConfig({
      ...{ ...mail, ...model, ...bucket },
      DATABASE_URL_FILE: file(`${database}\n`),
      BATON_SECRET_KEY_FILE: file(`${current}\r\n`),
      BATON_SECRET_KEY_PREVIOUS_FILE: file(`${previous},${other}`),
      BATON_MODEL_KEY_FILE: file('model-key\n'),
      BATON_SMTP_PASSWORD_FILE: file(' pass word \n\n'),
      BATON_S3_SECRET_FILE: file('s3-secret\n'),
    })
    expect(config).toMatchObject({
      database: { kind: 'postgres', url: database },
      secretKey: bytesOf(current),
      previousSecretKeys: [bytesOf(previous), bytesOf(other)],
      model: { key: 'model-key' },
      mail: { login: { user: 'baton', password: ' pass word \n' } },
      files: { secret: 's3-secret' },
    })
  })

  test('is known, and no other setting has that form', verifies('settings.file-variant'), () => {
    const env = { BATON_SECRET_KEY_FILE: file(key()), BATON_ROOT_URL_FILE: file('https://baton.example') }
    expect(unknownVariables(env)).toEqual(['BATON_ROOT_URL_FILE'])
    expect(readConfig(env).rootUrl).toBe('http://localhost:3000')
  })

  test('must not be set in both forms', verifies('settings.file-and-value'), () => {
    const message = 'BATON_SECRET_KEY and BATON_SECRET_KEY_FILE are both set; unset one of them'
    const path = file(key())
    expect(() => readConfig({ BATON_SECRET_KEY: key(), BATON_SECRET_KEY_FILE: path })).toThrow(new ConfigError(message))
    for (const empty of ['', ' ']) {
      expect(readConfig({ BATON_SECRET_KEY: empty, BATON_SECRET_KEY_FILE: path }).secretKey).not.toBeNull()
      expect(readConfig({ BATON_SECRET_KEY: key(), BATON_SECRET_KEY_FILE: empty }).secretKey).not.toBeNull()
    }
  })

  test('must be a readable file of 1 byte to 64 KB', verifies('settings.file-bad'), () => {
    const refused = (path: string) => {
      try {
        readConfig({ BATON_MODEL_KEY_FILE: path, ...model })
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        return (error as Error).message
      }
      throw new Error(`${path} was accepted`)
    }
    mkdirSync(join(dir, 'folder'))
    expect(refused(join(dir, 'gone'))).toBe('BATON_MODEL_KEY_FILE names a file that does not exist')
    expect(refused(join(dir, 'folder'))).toBe('BATON_MODEL_KEY_FILE does not name a regular file')
    expect(refused('/dev/zero')).toBe('BATON_MODEL_KEY_FILE does not name a regular file')
    for (const text of ['', '\n', ' \r\n']) expect(refused(file(text))).toBe('BATON_MODEL_KEY_FILE names an empty file')
    expect(refused(file('x'.repeat(65_537)))).toBe('BATON_MODEL_KEY_FILE names a file of more than 64 KB')
    expect(refused(file('with space'))).toMatch(/^BATON_MODEL_KEY_FILE must contain only printable ASCII/)
    const largest = readConfig({ BATON_MODEL_KEY_FILE: file('x'.repeat(65_536)), ...model })
    expect(largest.model?.key).toHaveLength(65_536)
  })

  // Root can read every file, so another user tries.
  test.skipIf(process.getuid?.() !== 0)('that its user cannot read is refused', verifies('settings.file-bad'), () => {
    chmodSync(dir, 0o711)
    const script = `process.setgid(65534); process.setuid(65534)
      const { readConfig } = await import(${JSON.stringify(new URL('../dist/config.js', import.meta.url).href)})
      readConfig(process.env)`
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { BATON_SECRET_KEY_FILE: file('secret') },
    })
    expect(stderr).toContain('BATON_SECRET_KEY_FILE names a file that cannot be read (EACCES)')
    expect(stderr).not.toContain('secret\n')
  })

  test('stops the start with one line if it is wrong', {
    ...verifies('settings.file-and-value', 'settings.file-bad'),
    timeout: 300_000,
  }, async () => {
    const secret = 'not-a-key-but-secret'
    const both = { BATON_SECRET_KEY: key(), BATON_SECRET_KEY_FILE: file(key()) }
    for (const [env, line] of [
      [both, /^BATON_SECRET_KEY and BATON_SECRET_KEY_FILE are both set.*\n$/],
      [{ BATON_SECRET_KEY_FILE: file(secret) }, /^BATON_SECRET_KEY_FILE must be 32 bytes in base64\n$/],
      // As if the value was set in place of the path.
      [{ BATON_SECRET_KEY_FILE: secret }, /^BATON_SECRET_KEY_FILE names a file that does not exist\n$/],
    ] as const) {
      const data = join(dir, 'data')
      const service = new ServiceProcess(await freePort(), { BATON_DATA_DIR: data, ...env })
      expect(await service.ended()).toBe(1)
      expect(service.output).toMatch(line)
      expect(service.output).not.toContain(secret)
      expect(existsSync(data)).toBe(false)
    }
  })

  test('that others can read gives one warning', verifies('settings.file-readable-warning'), () => {
    const warnings = (mode: number) => {
      const env = { BATON_SECRET_KEY_FILE: file(key(), mode) }
      return warningsOf(readConfig(env), env, '24.1.0')
    }
    const line =
      'Warning: the file of BATON_SECRET_KEY_FILE can be read by its group or by others; set its mode to 0400'
    for (const mode of [0o440, 0o404, 0o644]) expect(warnings(mode)).toEqual([line])
    for (const mode of [0o400, 0o600, 0o710]) expect(warnings(mode)).toEqual([])
  })
})

describe('warnings of the start', () => {
  test(
    'name HOST and BATON_ROOT_URL once if only the first is not loopback',
    verifies('container.warns-exposed-loopback'),
    () => {
      const warnings = (env: Record<string, string>) => warningsOf(readConfig(env), env, '24.1.0')
      for (const HOST of ['0.0.0.0', '::', '10.0.0.5']) {
        expect(warnings({ HOST })).toEqual([
          expect.stringMatching(new RegExp(`^Warning: HOST ${HOST} .*BATON_ROOT_URL`)),
        ])
        expect(warnings({ HOST, BATON_ROOT_URL: 'https://baton.example' })).toEqual([])
      }
      for (const HOST of ['127.0.0.1', 'localhost', '::1']) expect(warnings({ HOST })).toEqual([])
    },
  )

  test('say that the Node 20 line has ended, and nothing of later ones', verifies('versions.node-20-warning'), () => {
    const warnings = (version: string) => warningsOf(readConfig({}), {}, version)
    for (const version of ['20.19.0', '20.20.2']) {
      expect(warnings(version)).toEqual([expect.stringContaining('the Node 20 line ended in April 2026')])
    }
    for (const version of ['22.12.0', '24.0.0', '26.2.1']) expect(warnings(version)).toEqual([])
  })

  test('are printed once, and the service runs', {
    ...verifies('container.warns-exposed-loopback', 'settings.file-readable-warning', 'versions.node-20-warning'),
    timeout: 300_000,
  }, async () => {
    const dir = await filledDataDir()
    const path = join(dir, 'key')
    writeFileSync(path, key(), { mode: 0o644 })
    const env = { HOST: '0.0.0.0', BATON_DATA_DIR: dir, BATON_SECRET_KEY_FILE: path }
    const service = await ServiceProcess.start(env)
    try {
      await expect.poll(() => service.output).toContain('The API is described')
      // It comes through another pipe.
      await expect.poll(() => service.output).toContain('BATON_SECRET_KEY_FILE')
      const printed = service.output.split('\n').filter((line) => /warning/i.test(line))
      const ended = process.versions.node.startsWith('20.') ? ['Node 20'] : []
      const names = [...ended, 'HOST 0.0.0.0', 'BATON_SECRET_KEY_FILE']
      expect(printed).toEqual(names.map((name) => expect.stringContaining(name)))
    } finally {
      await service.kill('SIGTERM')
      rmSync(dir, { recursive: true, force: true })
    }
  })
})
