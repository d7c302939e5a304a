import {
  type ChangedFile,
  type ChangesSummary,
  type NewChanges,
  programLimits,
  type SessionChanges,
} from '@baton/protocol'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import type { Actor, App } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { transact } from '../unit-of-work.ts'
import { isVisibleTo } from './read.ts'
import { lifecycleColumns, lockOwnSession } from './session.ts'
import { sendSessionHint } from './session-hint.ts'
import { afterUpdate } from './state.ts'

type Stored = Pick<SessionChanges, 'version' | 'updated_at'>

/** Replaces the changes of a session. The same changes again have no effect (changes.replace-and-same). */
export function setChanges(ctx: Context, caller: App, id: string, body: NewChanges): Promise<SessionChanges> {
  checkFiles(body.files)
  const changes = ordered(body)
  const text = JSON.stringify(changes)
  const hash = sha256(text)
  return transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    const session = await lockOwnSession(unit, id)
    const before = await tx.row<Stored & { same: boolean }>(sql`
      select version, updated_at, hash = ${hash} as same from session_changes where session_id = ${id}`)
    if (before?.same) return { ...changes, version: before.version, updated_at: before.updated_at }
    const after = afterUpdate(session.lifecycle, { addsLinks: false }, now)
    const stored: Stored = { version: (before?.version ?? 0) + 1, updated_at: after.updatedAt.toISOString() }
    await tx.run(sql`
      insert into session_changes (session_id, workspace_id, version, hash, body, updated_at)
      values (${id}, ${caller.workspaceId}, ${stored.version}, ${hash}, ${text}, ${stored.updated_at})
      on conflict (session_id) do update set version = excluded.version, hash = excluded.hash, body = excluded.body,
        updated_at = excluded.updated_at`)
    await tx.run(sql`
      update agent_sessions set ${lifecycleColumns(session, after, now, config)},
        changes = ${JSON.stringify(summaryOf(changes, stored))}
      where id = ${id}`)
    sendSessionHint(tx, session)
    return { ...changes, ...stored }
  })
}

/** For every caller who can see the session (changes.visibility). */
export async function getChanges(ctx: Context, caller: Actor, id: string): Promise<SessionChanges> {
  const row = await ctx.db.row<Stored & { body: NewChanges }>(sql`
    select c.body, c.version, c.updated_at from session_changes c
    join agent_sessions s on s.id = c.session_id
    left join issues i on i.id = s.issue_id
    left join projects p on p.id = s.project_id
    where c.session_id = ${id} and ${isVisibleTo(caller)}`)
  const { body, version, updated_at } = found(row)
  return { ...body, version, updated_at }
}

const summaryOf = (
  { files_total, additions, deletions, branch }: NewChanges,
  { version, updated_at }: Stored,
): ChangesSummary => ({ version, files_total, additions, deletions, branch, updated_at })

/** In the order of the contract, so that the same changes have the same text whatever the order of their keys. */
const ordered = ({ base, files, ...changes }: NewChanges): NewChanges => ({
  repository: changes.repository,
  remote_url: changes.remote_url,
  base: { ref: base.ref, commit: base.commit },
  head_commit: changes.head_commit,
  branch: changes.branch,
  pushed: changes.pushed,
  files_total: changes.files_total,
  additions: changes.additions,
  deletions: changes.deletions,
  files: files.map(({ path, old_path, status, additions, deletions, patch, omitted }) => ({
    path,
    old_path,
    status,
    additions,
    deletions,
    patch,
    omitted,
  })),
})

/** The rules that the schema cannot express. */
function checkFiles(files: ChangedFile[]) {
  const problems = files.flatMap((file, index) =>
    problemsOf(file).map(([key, message]): [string, string] => [`files.${index}.${key}`, message]),
  )
  const paths = new Set<string>()
  for (const [index, { path }] of files.entries()) {
    if (paths.has(path)) problems.push([`files.${index}.path`, 'must be unique in the list'])
    paths.add(path)
  }
  const bytes = files.reduce((sum, { patch }) => sum + bytesOf(patch), 0)
  if (bytes > programLimits.patchesBytes) {
    problems.push(['files', `must have at most ${programLimits.patchesBytes} bytes of patches; this has ${bytes}`])
  }
  if (problems.length > 0) throw invalid(Object.fromEntries(problems))
}

function problemsOf({ path, old_path, patch, omitted }: ChangedFile): [string, string][] {
  const inside = 'must be relative to the repository and stay in it'
  const problems: [string, string][] = []
  if (!staysInside(path)) problems.push(['path', inside])
  if (old_path !== null && !staysInside(old_path)) problems.push(['old_path', inside])
  if (bytesOf(patch) > programLimits.patchBytes)
    problems.push(['patch', `must have at most ${programLimits.patchBytes} bytes`])
  if (patch !== null && omitted !== null) problems.push(['omitted', 'must be null, because there is a patch'])
  if (patch === null && omitted === null) problems.push(['patch', 'must be given, or omitted must say why it is not'])
  return problems
}

const bytesOf = (patch: string | null) => (patch === null ? 0 : Buffer.byteLength(patch))

/** Also by the rules of Windows, where the changes may be applied. */
const staysInside = (path: string) => !/^([/\\]|[A-Za-z]:[/\\])/.test(path) && !path.split(/[/\\]/).includes('..')
