import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { issuesCsv, titleOf } from '../../bench/issues-csv.mjs'
import { listAll, send } from '../api.mjs'
import { Journal } from '../processes.mjs'
import { postgresEnv, startRoles } from './kills.mjs'
import { Time } from './mail.mjs'

const jump = fileURLToPath(new URL('../jump.mjs', import.meta.url))
const issues = 100_000
const kills = 5
/** A claim expires after 30 seconds. */
const claimMs = 31_000

export const importing = {
  name: 'import',
  summary: 'both workers are killed five times while 100,000 issues are imported',
  withinMs: 900_000,
  async run({ url }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-import-'))
    try {
      return await importThrough(new Time(join(dir, 'offset')), url, join(dir, 'files'))
    } finally {
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
    }
  },
}

async function importThrough(time, url, filesDir) {
  const journal = new Journal()
  const services = await startRoles(['api', 'worker', 'worker'], journal, {
    ...postgresEnv(url),
    NODE_OPTIONS: `--import=${jump}`,
    FAULTS_CLOCK: time.file,
    BATON_FILES_DIR: filesDir,
  })
  for (const service of services) await service.untilReady()
  const [api, ...workers] = services
  const { call, headers } = await setUp(api)
  const { id } = await call('POST', '/imports', { source: 'linear' })
  const added = await fetch(`${api.url}/api/v1/imports/${id}/files?name=a.csv`, {
    method: 'POST',
    headers,
    body: issuesCsv(issues),
  })
  if (!added.ok) throw new Error(`The file: ${added.status} ${await added.text()}`)
  const until = async (isReached) => {
    for (;;) {
      const one = await call('GET', `/imports/${id}`)
      if (isReached(one) || one.state === 'failed') return one
      await sleep(100)
    }
  }
  await call('POST', `/imports/${id}/read`)
  await until(({ state }) => state === 'ready')
  const started = performance.now()
  await call('POST', `/imports/${id}/start`)
  for (let kill = 1; kill <= kills; kill++) {
    const reached = await until(({ state, phase, done }) => {
      return state === 'done' || (phase === 'issues' && done >= (kill * issues) / (kills + 1))
    })
    if (reached.state !== 'running')
      return { problems: [`${reached.state} before kill ${kill}: ${reached.error ?? ''}`] }
    await Promise.all(workers.map((worker) => worker.kill()))
    time.pass(claimMs)
    for (const worker of workers) await worker.untilReady()
  }
  const { state, counts } = await until(({ state }) => state === 'done')
  const seconds = Math.round((performance.now() - started) / 1000)
  const problems = await problemsOf(call, state, counts)
  for (const { wasReady, text } of journal.unexpectedEnds) if (wasReady) problems.push(text)
  return { problems, notes: `${issues} issues in ${seconds} s, ${kills} kills of both workers` }
}

/** Every row is an issue, and none is two. */
async function problemsOf(call, state, counts) {
  const problems = []
  if (state !== 'done') problems.push(`the import is ${state}`)
  if (counts.issues.created !== issues) problems.push(`${counts.issues.created} issues are counted as created`)
  const titles = (await listAll(call, '/issues')).map(({ title }) => title)
  const different = new Set(titles)
  if (titles.length !== issues || different.size !== issues) {
    problems.push(`${titles.length} issues exist, ${different.size} different ones, for ${issues} rows`)
  }
  for (let n = 1; n <= issues; n++) if (!different.has(titleOf(n))) problems.push(`${titleOf(n)} is missing`)
  return problems
}

async function setUp(api) {
  const ann = { email: 'ann@example.com', password: 'a password', name: 'Ann' }
  const { token } = await send(api, 'POST', '/auth/sign-up', ann)
  const bearer = { authorization: `Bearer ${token}` }
  const { id } = await send(api, 'POST', '/workspaces', { name: 'Acme' }, bearer)
  const headers = { ...bearer, 'x-workspace-id': id }
  return { headers, call: (method, path, body) => send(api, method, path, body, headers) }
}
