import { laterThan } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { changeLabels, changeRows, insertIssues, lockIssues, type StoredIssue } from './queries.ts'

/** Inserts issues of another tracker without any side effect (import.no-side-effects). */
export const insertImported = (tx: Queryable, workspaceId: string, issues: StoredIssue[]) =>
  insertIssues(tx, workspaceId, issues)

/** Codes of the other tracker that still find the issue. A code that another issue has stays there. */
export async function addAliases(tx: Queryable, workspaceId: string, aliases: readonly { code: string; id: string }[]) {
  if (aliases.length === 0) return
  await tx.run(sql`
    insert into issue_codes (workspace_id, code, issue_id)
    select ${workspaceId}, code, id from unnest(${aliases.map(({ code }) => code)}::text[],
      ${aliases.map(({ id }) => id)}::text[]) as n (code, id)
    on conflict do nothing`)
}

export type ImportedChange = Pick<StoredIssue, 'id' | 'updated_at'> & Partial<StoredIssue>

/**
 * Writes newer data of the other tracker to issues that were not changed here. An issue stays in its team. Returns the
 * new `updated_at` by id; an issue that was changed meanwhile is left out.
 */
export async function updateImported(
  tx: Queryable,
  workspaceId: string,
  changes: readonly (ImportedChange & { unchangedSince: string })[],
): Promise<Map<string, string>> {
  const wanted = new Map(changes.map((change) => [change.id, change]))
  const locked = await lockIssues(tx, workspaceId, [...wanted.keys()])
  const pairs = locked.flatMap((before): [StoredIssue, StoredIssue][] => {
    const found = wanted.get(before.id)
    if (!found || before.updated_at > found.unchangedSince) return []
    const { unchangedSince: _, team_id, cycle_id, ...fields } = found
    const updated_at = laterThan(before.updated_at, new Date(found.updated_at))
    return [
      [
        before,
        { ...before, ...fields, ...(team_id === before.team_id ? { cycle_id: cycle_id ?? null } : {}), updated_at },
      ],
    ]
  })
  if (pairs.length === 0) return new Map()
  await changeRows(tx, pairs)
  await changeLabels(tx, workspaceId, pairs)
  return new Map(pairs.map(([, { id, updated_at }]) => [id, updated_at]))
}

/** Sets parents without a change of `updated_at`: both issues are of the same import. */
export async function setParents(tx: Queryable, pairs: readonly { child: string; parent: string }[]) {
  if (pairs.length === 0) return
  await tx.run(sql`
    update issues i set parent_id = n.parent
    from unnest(${pairs.map(({ child }) => child)}::text[], ${pairs.map(({ parent }) => parent)}::text[]) as n (child, parent)
    where i.id = n.child`)
}

export async function addDuplicates(
  tx: Queryable,
  workspaceId: string,
  now: Date,
  pairs: readonly { duplicate: string; original: string }[],
) {
  if (pairs.length === 0) return
  await tx.run(sql`
    insert into issue_duplicates (issue_id, workspace_id, duplicate_of_id, created_at)
    select duplicate, ${workspaceId}, original, ${now}
    from unnest(${pairs.map(({ duplicate }) => duplicate)}::text[], ${pairs.map(({ original }) => original)}::text[])
      as n (duplicate, original)
    on conflict do nothing`)
}

/** History that names a placeholder names the member instead. */
export const replaceInHistory = (tx: Queryable, workspaceId: string, from: string, to: string) =>
  tx.run(sql`
    update issue_changes set changes = replace(changes::text, ${from}, ${to})::jsonb
    where workspace_id = ${workspaceId}
      and ${from} in (changes->'assignee_id'->>'from', changes->'assignee_id'->>'to')`)
