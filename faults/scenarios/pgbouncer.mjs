// The tests of several nodes through PgBouncer in session mode, and a start behind one in transaction mode.
import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { debianProgram } from '../../scripts/debian.mjs'
import { postgresUser } from '../../scripts/postgres.mjs'
import { bin, freePort, root, run, StepFailed } from '../../scripts/setup.mjs'
import { runSuite } from '../../scripts/suite.mjs'
import { postgresEnv } from './kills.mjs'

const refusal = 'DATABASE_URL points to a pooler in transaction mode'

export const pgbouncer = {
  name: 'pgbouncer',
  summary: 'several nodes connect through PgBouncer in session mode; in transaction mode the start stops',
  withinMs: 400_000,
  shows: ['ha.pgbouncer-session'],
  async run({ url }) {
    const program = await debianProgram('pgbouncer')
    if (!program) return { problems: [], skipped: 'pgbouncer is not installed' }
    const problems = []
    await withPooler(program, url, 'transaction', async (host) => {
      const env = { ...postgresEnv(url.replace(new URL(url).host, host)), PORT: String(await freePort()) }
      const { code, output } = await run(process.execPath, [join(root, 'server/dist/main.js')], {
        env,
        timeoutMs: 60_000,
      })
      if (code !== 1 || !output.includes(refusal))
        problems.push(`in transaction mode, the start ended with ${code}: ${output}`)
    })
    const suite = await withPooler(program, url, 'session', (host) =>
      runSuite({
        name: 'pgbouncer',
        title: 'Tests of several nodes through PgBouncer',
        command: bin('vitest'),
        args: ['run', 'server/test/nodes.process.test.ts'],
        env: { DATABASE_URL: url, BATON_TEST_POOLER: host },
        budgetSeconds: 300,
      }),
    )
    if (suite.failed > 0 || suite.passed === 0) problems.push(`${suite.failed} tests failed, ${suite.passed} passed`)
    return { problems, notes: `${suite.passed} tests through PgBouncer` }
  },
}

/** `work` gets the host and port of a PgBouncer in front of the server of `url`. */
async function withPooler(program, url, mode, work) {
  const { hostname, port, username } = new URL(url)
  const dir = mkdtempSync(join(tmpdir(), 'baton-pgbouncer-'))
  const { uid, gid } = postgresUser()
  if (uid !== undefined) chownSync(dir, uid, gid)
  const own = await freePort()
  // As docs/guides/postgres.md says.
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: own,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(dir, 'users'),
    pool_mode: mode,
    default_pool_size: 150,
    max_client_conn: 500,
    ignore_startup_parameters: 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(join(dir, 'users'), `"${username}" ""\n`)
  const config = `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]\n${lines.join('\n')}\n`
  writeFileSync(join(dir, 'pgbouncer.ini'), config)
  // PgBouncer refuses to run as root.
  const child = spawn(program, ['-q', join(dir, 'pgbouncer.ini')], { uid, gid, stdio: 'ignore' })
  const host = `127.0.0.1:${own}`
  try {
    await untilItAnswers(url.replace(new URL(url).host, host), child)
    return await work(host)
  } finally {
    child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

async function untilItAnswers(url, child) {
  for (let tries = 0; tries < 100 && child.exitCode === null; tries++) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch {
      await sleep(100)
    }
  }
  throw new StepFailed('PgBouncer did not start')
}
