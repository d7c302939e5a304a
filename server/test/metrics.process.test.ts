import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { verifies } from '../../conformance/requirements.ts'
import { debianProgram } from '../../scripts/debian.mjs'
import { filledDataDir } from './empty-databases.ts'
import { freePort, newDataDir, ServiceProcess } from './service-process.ts'

const promtool = await debianProgram('promtool', 'prometheus')
/** In CI the tests run, and fail, without it. */
const withPromtool = test.skipIf(!promtool && !process.env.CI)

const deployed = (file: string) => fileURLToPath(new URL(`../../deploy/${file}`, import.meta.url))

function check(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(promtool as string, args, { input, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** The metrics that the documentation names, with their types and labels. */
const named: Record<string, [type: 'gauge' | 'counter' | 'histogram', ...labels: string[]]> = {
  build_info: ['gauge', 'version', 'database'],
  ready: ['gauge'],
  deliveries_due: ['gauge'],
  delivery_oldest_due_seconds: ['gauge'],
  deliveries_settled_total: ['counter', 'outcome'],
  endpoints: ['gauge', 'kind', 'state'],
  events_recorded_total: ['counter', 'type'],
  agent_sessions_open: ['gauge', 'state'],
  agent_work_pending: ['gauge'],
  agent_work_oldest_seconds: ['gauge'],
  model_request_duration_seconds: ['histogram', 'outcome'],
  database_connections: ['gauge', 'pool', 'state'],
  database_wait_seconds: ['histogram'],
  database_reconnects_total: ['counter'],
  database_size_bytes: ['gauge'],
  embedded_database_memory_bytes: ['gauge', 'part'],
  slow_statements_total: ['counter'],
  data_disk_free_bytes: ['gauge'],
  clock_skew_seconds: ['gauge'],
  login_failures_total: ['counter'],
  rate_limited_total: ['counter', 'limit'],
  housekeeping_last_success_timestamp_seconds: ['gauge', 'chore'],
  housekeeping_failures_total: ['counter', 'chore'],
  backup_last_success_timestamp_seconds: ['gauge'],
  backup_last_size_bytes: ['gauge'],
  backup_failures_total: ['counter'],
}

describe('the metrics of a fresh service', () => {
  let dataDir: string
  let service: ServiceProcess
  let text = ''
  beforeAll(async () => {
    dataDir = await filledDataDir()
    const port = await freePort()
    service = await ServiceProcess.start({ BATON_DATA_DIR: dataDir, BATON_METRICS_LISTEN: `127.0.0.1:${port}` })
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    text = await answer.text()
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
    expect((await fetch(`http://127.0.0.1:${port}/metrics`, { method: 'POST' })).status).toBe(404)
    // On PostgreSQL there is no prepared directory.
  }, 180_000)
  afterAll(async () => {
    await service.kill('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('are at an address of their own and not on the main port', verifies('settings.metrics-listen'), async () => {
    expect(text).toContain('baton_ready 1')
    const main = await fetch(`${service.url}/metrics`)
    expect(main.status).toBe(404)
    expect(await main.text()).not.toContain('baton_')
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  })

  test('include each one that is documented', verifies('metrics.names'), () => {
    const guide = readFileSync(fileURLToPath(new URL('../../docs/guides/monitoring.md', import.meta.url)), 'utf8')
    for (const [name, [type, ...labels]] of Object.entries(named)) {
      expect(text).toContain(`# TYPE baton_${name} ${type}\n`)
      const [, list = ''] =
        new RegExp(`^baton_${name}(?:_bucket)?(?:\\{(.*)\\})? \\S+$`, 'm').exec(text) ?? expect.fail(name)
      const shown = [...list.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'le')
      expect(shown.sort(), name).toEqual(labels.sort())
      expect(guide).toContain(`\`baton_${name}`)
    }
  })

  withPromtool('are accepted by the linter of Prometheus', verifies('metrics.lint'), () => {
    const { output } = check(['check', 'metrics'], text)
    expect(output.split('\n').filter((line) => line.startsWith('baton_'))).toEqual([])
    // It does find something: in the metrics of Node.
    expect(output).toContain('nodejs_')
  })

  withPromtool('are those of the dashboard, whose expressions parse', verifies('metrics.dashboard'), () => {
    const { panels, templating } = JSON.parse(readFileSync(deployed('grafana/baton.json'), 'utf8'))
    const expressions: string[] = panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr }: { expr: string }) => expr),
    )
    expect(expressions.length).toBeGreaterThan(30)
    const variables = templating.list.map(({ query }: { query: string }) => query).join()
    const known = new Set([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name]) => name))
    for (const [name] of `${expressions} ${variables}`.matchAll(/\b(baton|nodejs|process)_\w+/g)) {
      expect(known, name).toContain(name.replace(/_(bucket|count|sum)$/, ''))
    }
    const dir = mkdtempSync(join(tmpdir(), 'baton-dashboard-'))
    const rules = expressions.map((expr, at) => ({
      record: `panel_${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }))
    // JSON is YAML.
    writeFileSync(join(dir, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    const { status, output } = check(['check', 'rules', join(dir, 'rules.yml')])
    expect(output).toContain(`SUCCESS: ${rules.length} rules found`)
    expect(status).toBe(0)
    writeFileSync(
      join(dir, 'rules.yml'),
      JSON.stringify({ groups: [{ name: 'x', rules: [{ record: 'x', expr: 'sum(' }] }] }),
    )
    expect(check(['check', 'rules', join(dir, 'rules.yml')]).status).not.toBe(0)
    rmSync(dir, { recursive: true })
  })

  withPromtool(
    'are those of the alerts, each of which fires and stays silent in a test',
    verifies('metrics.alerts'),
    () => {
      const rules = parse(readFileSync(deployed('prometheus/baton.rules.yml'), 'utf8')).groups.flatMap(
        (group: { rules: unknown[] }) => group.rules,
      ) as { alert: string; expr: string }[]
      expect(rules).toHaveLength(13)
      for (const { expr } of rules) {
        for (const [name] of expr.matchAll(/\bbaton_\w+/g))
          expect(text).toContain(`# TYPE ${name.replace(/_(bucket|count)$/, '')} `)
      }
      const file = deployed('prometheus/baton.rules.test.yml')
      const cases = parse(readFileSync(file, 'utf8')).tests.flatMap(
        (one: { alert_rule_test: unknown[] }) => one.alert_rule_test,
      ) as { alertname: string; exp_alerts: unknown[] }[]
      for (const { alert } of rules) {
        const fires = cases
          .filter(({ alertname }) => alertname === alert)
          .map(({ exp_alerts }) => exp_alerts.length > 0)
        expect(new Set(fires), alert).toEqual(new Set([true, false]))
      }
      expect(check(['check', 'rules', deployed('prometheus/baton.rules.yml')])).toMatchObject({ status: 0 })
      expect(check(['test', 'rules', file])).toMatchObject({ status: 0 })
    },
  )
})

test('a metrics address that is in use stops the start', verifies('settings.metrics-listen'), async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const dataDir = join(newDataDir(), 'data')
  const service = new ServiceProcess(await freePort(), {
    BATON_DATA_DIR: dataDir,
    BATON_METRICS_LISTEN: `127.0.0.1:${port}`,
  })
  expect(await service.ended()).toBe(1)
  expect(service.output).toContain(`BATON_METRICS_LISTEN: cannot listen on 127.0.0.1:${port}`)
  expect(existsSync(dataDir)).toBe(false)
  other.close()
})
