// PUT of a session's changes at their largest, and reading a session that has them, compared with one that has none.
import { percentile, startAgentService } from '../setting.mjs'

const puts = 60
const reads = 600
/** Not measured: first connections and code that is not compiled yet. */
const warmUps = 20

export const rows = [
  {
    name: 'PUT of 512 KB of changes, p50',
    unit: 'ms',
    better: 'less',
    target: 150,
    absolute: true,
    floorIs: 'a PUT of one line',
  },
  {
    name: 'reading a session with changes, p50',
    unit: 'ms',
    better: 'less',
    target: 1.1,
    floorIs: 'a session without changes',
  },
]

export const ownDatabase = true

/** Eight patches of 64 KB are the most that the service takes. */
const changes = (version, patchBytes, count) => ({
  repository: 'acme/app',
  remote_url: null,
  base: { ref: 'main', commit: 'a'.repeat(40) },
  head_commit: 'b'.repeat(40),
  branch: 'baton/eng-1-abcdef',
  pushed: false,
  files_total: count,
  additions: version,
  deletions: 0,
  files: Array.from({ length: count }, (_, n) => ({
    path: `src/file-${n}.ts`,
    old_path: null,
    status: 'modified',
    additions: 1,
    deletions: 0,
    patch: `+${'a line of code\n'.repeat(patchBytes / 15)}`.slice(0, patchBytes),
    omitted: null,
  })),
})

export async function run(where) {
  const server = await startAgentService('ours', where)
  const [{ token, workspaceId, sessionIds }] = server.agents
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
  }
  const call = async (method, path, body) => {
    const started = performance.now()
    const response = await fetch(`${server.url}/api/v1/agent-sessions/${path}`, { method, headers, body })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`)
    return performance.now() - started
  }
  const [changed, plain] = sessionIds
  const times = { large: [], small: [], changed: [], plain: [] }
  for (let n = 0; n < warmUps + puts; n++) {
    times.small.push(await call('PUT', `${changed}/changes`, JSON.stringify(changes(n, 15, 1))))
    times.large.push(await call('PUT', `${changed}/changes`, JSON.stringify(changes(n, 64 * 1024, 8))))
  }
  for (let n = 0; n < warmUps + reads; n++) {
    times.changed.push(await call('GET', changed))
    times.plain.push(await call('GET', plain))
  }
  await server.stop()
  const p50 = (kind) => percentile(times[kind].slice(warmUps), 0.5)
  return [
    { ours: p50('large'), floor: p50('small') },
    { ours: p50('changed'), floor: p50('plain') },
  ]
}
