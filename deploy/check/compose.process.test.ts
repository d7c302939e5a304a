import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { verifies } from '../../conformance/requirements.ts'
import { debianProgram } from '../../scripts/debian.mjs'
import { readConfig } from '../../server/src/config.ts'
import { exampleSecrets, unknownSettings } from './settings.ts'

const file = fileURLToPath(new URL('../compose.yaml', import.meta.url))
const compose = await debianProgram('docker-compose')
const withCompose = test.skipIf(!compose && !process.env.CI)
const processes = ['baton', 'api', 'worker']

/** Runs `docker-compose config` on the text of a file. */
function config(text: string, rootUrl = 'https://baton.example') {
  const folder = mkdtempSync(join(tmpdir(), 'baton-compose-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'compose.yaml'), text)
  return spawnSync(compose ?? '', ['-f', join(folder, 'compose.yaml'), '--profile', 'scale', 'config'], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, BATON_ROOT_URL: rootUrl },
  })
}

interface Service {
  name: string
  profiles?: string[]
  environment: Record<string, string>
}

const shipped = readFileSync(file, 'utf8')
// Each run takes a second.
let accepted: string | undefined
function rendered() {
  accepted ??= config(shipped).stdout
  return parse(accepted)
}

withCompose('docker-compose accepts the file with its profile', verifies('deploy.compose-valid'), () => {
  const { status, stderr, stdout } = config(shipped)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const services: Service[] = Object.entries<Omit<Service, 'name'>>(parse(stdout).services).map(([name, service]) => ({
    name,
    ...service,
  }))
  expect(services.map(({ name, profiles, environment }) => [name, profiles, environment.BATON_ROLE]).sort()).toEqual([
    ['api', ['scale'], 'api'],
    ['baton', undefined, undefined],
    ['db', undefined, undefined],
    ['worker', ['scale'], 'worker'],
  ])
})

withCompose.each([
  ['read_only:', 'read_onyl:'],
  ['secrets: [postgres-password]', 'secret: [postgres-password]'],
])('docker-compose refuses the file with %s misspelt', verifies('deploy.compose-valid'), (right, wrong) => {
  const { status, stderr } = config(shipped.replace(right, wrong))
  expect(status).toBe(1)
  expect(stderr).toContain(wrong.split(':')[0])
})

withCompose('refuses to begin without a root URL, and says which', () => {
  const { status, stderr } = config(shipped, '')
  expect(status).toBe(1)
  expect(stderr).toContain('such as https://baton.example')
})

withCompose(
  'each process is read-only, without capabilities, and waits for the database',
  verifies('deploy.compose-hardened'),
  () => {
    const all = rendered().services
    for (const name of processes) {
      expect(all[name], name).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        depends_on: { db: { condition: 'service_healthy' } },
        image: 'baton:0.1.0',
      })
      expect(all[name], name).not.toHaveProperty('cap_add')
      expect(all[name], name).not.toHaveProperty('privileged')
    }
    expect(all.db.healthcheck.test).toContain('pg_isready')
  },
)

withCompose('ports are published on 127.0.0.1 only', verifies('deploy.compose-hardened'), () => {
  const ports = Object.values<{ ports?: string[] }>(rendered().services).flatMap((service) => service.ports ?? [])
  expect(ports).toHaveLength(2)
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
})

withCompose('secrets come from files, and no variable contains one', verifies('deploy.compose-hardened'), () => {
  const all = rendered().services
  for (const name of processes) {
    const { environment, secrets } = all[name]
    expect(environment).toMatchObject({
      DATABASE_URL_FILE: '/run/secrets/database-url',
      BATON_SECRET_KEY_FILE: '/run/secrets/secret-key',
    })
    expect(secrets.map(({ source }: { source: string }) => source)).toEqual(['database-url', 'secret-key'])
    for (const secret of ['DATABASE_URL', 'BATON_SECRET_KEY', 'BATON_SMTP_PASSWORD']) {
      expect(environment).not.toHaveProperty(secret)
    }
  }
  expect(all.db.environment).not.toHaveProperty('POSTGRES_PASSWORD')
  for (const { file } of Object.values<{ file: string }>(rendered().secrets)) {
    expect(file).toMatch(/\/secrets\/[a-z-]+$/)
  }
})

test('the commands of the guide create secrets that Baton accepts', () => {
  const guide = readFileSync(fileURLToPath(new URL('../../docs/guides/deploying.md', import.meta.url)), 'utf8')
  const folder = mkdtempSync(join(tmpdir(), 'baton-secrets-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  execFileSync('sh', ['-ec', /```sh secrets\n(.*?)```/s.exec(guide)?.[1] ?? 'false'], { cwd: folder })
  const secret = (name: string) => readFileSync(join(folder, 'secrets', name), 'utf8').trimEnd()
  const { database } = readConfig({ DATABASE_URL: secret('database-url'), BATON_SECRET_KEY: secret('secret-key') })
  const url = `postgres://baton:${secret('postgres-password')}@db:5432/baton`
  expect(database).toEqual({ kind: 'postgres', url })
  for (const name of ['database-url', 'secret-key', 'postgres-password']) {
    expect(statSync(join(folder, 'secrets', name)).mode & 0o777).toBe(0o600)
  }
})

withCompose('Baton knows each setting, and accepts its value', () => {
  for (const name of processes) {
    expect(unknownSettings(rendered().services[name].environment, exampleSecrets), name).toEqual([])
  }
  const misspelt = { ...rendered().services.baton.environment, BATON_TRUSTED_PROXY: '10.0.0.1' }
  expect(unknownSettings(misspelt, exampleSecrets)).toEqual(['BATON_TRUSTED_PROXY'])
})
