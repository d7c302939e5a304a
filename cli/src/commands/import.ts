import { readFile, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BatonClient } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { account, type Call, type Command, positionals, text } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { table } from '../terminal.ts'

const sources = ['linear', 'github', 'jira', 'csv'] as const
type Source = (typeof sources)[number]
type Import = Awaited<ReturnType<BatonClient['getImport']>>

export const importCommand: Command = {
  name: 'import',
  summary: 'import issues from Linear, GitHub, Jira or a CSV file',
  usage: ['FILE [--source SOURCE] [--team TEAM] [--dry-run]'],
  about: `Uploads the file, reads it and imports it. --dry-run stops after reading: it prints what an import would do and changes
nothing. A later import of the same issues updates them. For owners and admins. Settings → Import has more choices.`,
  example: 'import issues.csv --source linear --dry-run',
  options: {
    ...account,
    source: { type: 'string', value: 'SOURCE', about: `${sources.join(', ')} (default: csv, or github for .json)` },
    team: { type: 'string', value: 'TEAM', about: 'key, name or id of the team for issues without one' },
    'dry-run': { type: 'boolean', about: 'only show what would be imported' },
  },
  async run(call) {
    const [path = ''] = positionals(call.args, 'FILE')
    const source = sourceOf(call, path)
    const user = await currentAccount(call)
    const team = text(call, 'team')
    const teamId = team === undefined ? null : await findTeam(user.client, team)
    const { id } = await user.client.createImport({ source })
    const dryRun = call.values['dry-run'] === true
    try {
      await upload(user, id, path)
      if (teamId) await user.client.updateImport({ import_id: id, mapping: { default_team_id: teamId } })
      await user.client.readImport({ import_id: id })
      const read = await follow(call, user.client, id)
      if (read.state !== 'ready') return await report(call, user.client, read)
      if (dryRun) return await report(call, user.client, read)
      await user.client.startImport({ import_id: id })
      await report(call, user.client, await follow(call, user.client, id))
    } finally {
      // A preview leaves nothing behind, and what did not start is of no use.
      const { state } = await user.client.getImport({ import_id: id })
      if (dryRun || state === 'uploading' || state === 'ready')
        await user.client.deleteImport({ import_id: id }).catch(() => {})
    }
  },
}

function sourceOf(call: Call, path: string): Source {
  const given = text(call, 'source') ?? (extname(path).toLowerCase() === '.json' ? 'github' : 'csv')
  const source = sources.find((one) => one === given)
  if (!source) throw new UsageError(`--source must be ${sources.join(', ')}, not ${given}.`)
  return source
}

async function findTeam(client: BatonClient, named: string): Promise<string> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Awaited<ReturnType<BatonClient['listTeams']>> = await client.listTeams({
      limit: 100,
      ...(cursor ? { cursor } : {}),
    })
    const found = page.data.find(({ id, key, name }) =>
      [id, key, name].some((one) => one.toLowerCase() === named.toLowerCase()),
    )
    if (found) return found.id
    cursor = page.next_cursor
  }
  throw new Failure(`There is no team ${named}.`, { code: 'NO_SUCH_TEAM' })
}

async function upload({ baseUrl, token, workspace }: Account, id: string, path: string) {
  const size = await stat(path).catch(() => null)
  if (!size?.isFile()) throw new Failure(`There is no file ${path}.`, { code: 'NO_SUCH_FILE' })
  const response = await fetch(
    `${baseUrl}/imports/${id}/files?name=${encodeURIComponent(basename(path).slice(0, 200))}`,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'x-workspace-id': workspace.id,
        'content-type': 'application/octet-stream',
      },
      body: await readFile(path),
    },
  )
  if (response.ok) return
  const { code, message } = (await response.json().catch(() => ({}))) as { code?: string; message?: string }
  throw new Failure(message ?? `The upload was answered with ${response.status}.`, { code: code ?? 'UPLOAD_FAILED' })
}

/** Waits until the import is neither read nor run any more, and shows its progress. */
async function follow({ terminal, signal }: Call, client: BatonClient, id: string): Promise<Import> {
  let shown = ''
  for (;;) {
    const one = await client.getImport({ import_id: id })
    if (one.state !== 'reading' && one.state !== 'running') return one
    const line = one.total > 0 ? `${one.phase}: ${one.done} of ${one.total}` : `${one.phase ?? one.state}…`
    if (line !== shown) terminal.note(line)
    shown = line
    await sleep(300, undefined, { signal })
  }
}

async function report({ terminal }: Call, client: BatonClient, one: Import) {
  const { data: problems } = await client.listImportProblems({ import_id: one.id, limit: 100 })
  const rows = Object.entries(one.counts)
    .filter(([, counts]) => Object.values(counts).some((count) => count > 0))
    .map(([kind, { created, updated, unchanged, skipped }]) => [
      kind,
      ...[created, updated, unchanged, skipped].map(String),
    ])
  const lines = problems
    .slice(0, 20)
    .map(
      ({ row, field, value, message }) =>
        `  ${row === null ? '' : `row ${row}: `}${[field, value].filter(Boolean).join(' ')} ${message}`,
    )
  const more = one.problem_count > lines.length ? [`  and ${one.problem_count - lines.length} more`] : []
  const summary = [
    one.state === 'ready' ? 'Preview; nothing was imported.' : `The import is ${one.state}.`,
    table([['', 'created', 'updated', 'unchanged', 'skipped'], ...rows]),
    ...(one.problem_count > 0 ? [`${one.problem_count} problems:`, ...lines, ...more] : []),
  ]
  terminal.result({ ...one, problems }, summary.join('\n'))
  if (one.state === 'failed' || one.state === 'canceled') process.exitCode = 1
}
