import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { StepFailed } from '../../scripts/setup.mjs'
import { listAll, send } from '../api.mjs'
import { Journal, Service } from '../processes.mjs'
import { underLoad } from '../under-load.mjs'
import { postgresEnv, startRoles } from './kills.mjs'

const operate = fileURLToPath(new URL('../../server/test/operate-program.mjs', import.meta.url))

export const backup = {
  name: 'backup',
  summary: 'a backup is taken under load while a worker is killed, and restored into another database',
  withinMs: 300_000,
  async run({ url, database, options }) {
    const dir = mkdtempSync(join(tmpdir(), 'baton-faults-backup-'))
    const env = postgresEnv(url)
    try {
      return await underLoad(options, {
        start: (journal) => startRoles(['api', 'worker', 'worker'], journal, env),
        async inject(workload, { services }) {
          const before = workload.issueIds
          const [made] = await Promise.all([run(['backup', '--output', dir, '--json'], env), services[2].kill()])
          const { file } = JSON.parse(made)
          const restored = await restoredFrom(file, {
            ...env,
            DATABASE_URL: await database.create('faults_restored'),
          })
          try {
            return await compare(workload, before, restored)
          } finally {
            restored.stop()
          }
        },
      })
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

async function run(args, env) {
  const child = spawn(process.execPath, [operate, ...args], { env: { ...process.env, ...env } })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new StepFailed(`operate ${args[0]}: ${stderr || stdout}`)
  return stdout
}

/** Without a worker: it must not deliver what the first one delivers. */
async function restoredFrom(file, env) {
  await run(['verify-backup', file], env)
  await run(['restore', file], env)
  const service = await Service.start('api', 4, new Journal(), env)
  await service.untilReady()
  return service
}

/** Everything acknowledged before the backup is in it, and nothing that the first instance does not have. */
async function compare(workload, before, restored) {
  const read = (method, path, body) => send(restored, method, path, body, workload.headers)
  const kept = new Set((await listAll(read, '/issues')).map(({ id }) => id))
  const now = new Set((await workload.list('/issues')).map(({ id }) => id))
  const problems = before.filter((id) => !kept.has(id)).map((id) => `${id} was acknowledged and is not in the backup`)
  for (const id of kept) if (!now.has(id)) problems.push(`${id} is in the backup alone`)
  return { problems, notes: `${kept.size} issues restored, ${before.length} of them from before the backup` }
}
