import { open, readFile, stat } from 'node:fs/promises'
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
type Problem = Awaited<ReturnType<BatonClient['listImportProblems']>>['data'][number]
type ImportMappingChange = Parameters<BatonClient['updateImport']>[0]['mapping']

export const importCommand: Command = {
  name: 'import',
  summary: 'import issues from Linear, GitHub, Jira or a CSV file',
  usage: ['FILE [--source SOURCE] [--team TEAM] [--mapping FILE] [--keep-codes] [--dry-run]'],
  about: `Uploads the file, reads it and imports it. --dry-run stops after reading: it prints what an import would do and changes
nothing. A later import of the same issues updates them and begins with the mapping of the last one. For owners and
admins.`,
  example: 'import issues.csv --source linear --dry-run',
  options: {
    ...account,
    source: { type: 'string', value: 'SOURCE', about: `${sources.join(', ')} (default: by the file)` },
    team: { type: 'string', value: 'TEAM', about: 'key, name or id of the team for issues without one' },
    mapping: { type: 'string', value: 'FILE', about: 'JSON with parts of the mapping, as --dry-run --json prints it' },
    'keep-codes': { type: 'boolean', about: 'keep the codes of the source also in teams that exist and are empty' },
    'dry-run': { type: 'boolean', about: 'only show what would be imported' },
  },
  async run(call) {
    const [path = ''] = positionals(call.args, 'FILE')
    const source = await sourceOf(call, path)
    const given = await mappingOf(call)
    const user = await currentAccount(call)
    const team = text(call, 'team')
    const teamId = team === undefined ? null : await findTeam(user.client, team)
    const mapping = {
      ...given,
      ...(teamId && { default_team_id: teamId }),
      ...(call.values['keep-codes'] === true && { keep_codes: true }),
    }
    const { id } = await user.client.createImport({ source })
    const dryRun = call.values['dry-run'] === true
    try {
      await upload(user, id, path)
      if (Object.keys(mapping).length > 0) await user.client.updateImport({ import_id: id, mapping })
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

async function sourceOf(call: Call, path: string): Promise<Source> {
  const given = text(call, 'source')
  if (given === undefined) return guessedSource(call, path)
  const source = sources.find((one) => one === given)
  if (!source) throw new UsageError(`--source must be ${sources.join(', ')}, not ${given}.`)
  return source
}

/** Columns that only one tracker exports. */
const headers = { jira: ['issue key', 'summary'], linear: ['id', 'team', 'title', 'cycle number', 'parent issue'] }
const names = { jira: 'Jira', linear: 'Linear' }

async function guessedSource({ terminal }: Call, path: string): Promise<Source> {
  if (['.json', '.jsonl', '.ndjson'].includes(extname(path).toLowerCase())) return 'github'
  const columns = (await firstLine(path)).split(/[,;\t]/).map((name) => name.replace(/^"|"$/g, '').trim().toLowerCase())
  for (const source of ['jira', 'linear'] as const) {
    if (!headers[source].every((name) => columns.includes(name))) continue
    terminal.note(`Reading the file as an export of ${names[source]}; --source csv reads it as a plain CSV.`)
    return source
  }
  return 'csv'
}

/** Empty if there is no such file, which the upload reports. */
async function firstLine(path: string): Promise<string> {
  const file = await open(path).catch(() => null)
  if (!file) return ''
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0)
    const [line = ''] = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\ufeff/, '')
      .split(/\r?\n/, 1)
    return line
  } finally {
    await file.close()
  }
}

async function mappingOf(call: Call): Promise<ImportMappingChange> {
  const path = text(call, 'mapping')
  if (path === undefined) return {}
  const content = await readFile(path, 'utf8').catch(() => {
    throw new Failure(`There is no file ${path}.`, { code: 'NO_SUCH_FILE' })
  })
  try {
    const mapping: unknown = JSON.parse(content)
    // The service checks its fields.
    if (typeof mapping === 'object' && mapping !== null && !Array.isArray(mapping)) return mapping
  } catch {
    // Said below.
  }
  throw new Failure(`${path} is not a JSON object with parts of the mapping.`, { code: 'INVALID_MAPPING' })
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
  const lines = grouped(problems).slice(0, 20)
  const more = one.problem_count > problems.length || grouped(problems).length > lines.length ? ['  and more'] : []
  const summary = [
    one.state === 'ready' ? 'Preview; nothing was imported.' : `The import is ${one.state}.`,
    table([['', 'created', 'updated', 'unchanged', 'skipped'], ...rows]),
    ...(one.problem_count > 0 ? [`${one.problem_count} problems:`, ...lines, ...more] : []),
  ]
  terminal.result({ ...one, problems }, summary.join('\n'))
  if (one.state === 'failed' || one.state === 'canceled') process.exitCode = 1
}

/** The same problem of several rows is one line. */
function grouped(problems: readonly Problem[]): string[] {
  const rows = new Map<string, number[]>()
  for (const { row, field, value, message } of problems) {
    const text = `${[field, value].filter(Boolean).join(' ')} ${message}`
    rows.set(text, [...(rows.get(text) ?? []), ...(row === null ? [] : [row])])
  }
  return [...rows].map(([text, [first, ...others]]) => {
    if (first === undefined) return `  ${text}`
    const list = [first, ...others].slice(0, 5).join(', ')
    return `  ${others.length === 0 ? `row ${first}` : `rows ${list}${others.length > 4 ? ', …' : ''}`}: ${text}`
  })
}
