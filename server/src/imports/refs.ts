import type { Queryable } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'
import { clip, hashOf } from './plan.ts'

export type RefKind = 'team' | 'user' | 'label' | 'project' | 'milestone' | 'cycle' | 'issue' | 'comment' | 'file'

export interface Ref {
  target_id: string
  hash: Buffer | null
  imported_at: string | null
  created_at: string
}

export interface NewRef {
  external_id: string
  target_id: string
  key?: string | null
  url?: string | null
  hash?: Buffer | null
  imported_at?: string | null
}

/** Where the items of an import come from. */
export interface Origin {
  workspaceId: string
  source: string
  /** When the run started. */
  startedAt: Date
}

/** Ids of a source can have any length; an index entry cannot. */
export const stored = (id: string) =>
  id.length <= 300
    ? id.replace(/\p{Cs}/gu, '\uFFFD').replaceAll('\u0000', '')
    : `sha256 ${hashOf(id).toString('base64url')}`

/** By id of the source. */
export async function findRefs(db: Queryable, { workspaceId, source }: Origin, kind: RefKind, ids: Iterable<string>) {
  const wanted = new Map([...new Set(ids)].map((id) => [stored(id), id]))
  if (wanted.size === 0) return new Map<string, Ref>()
  const rows = await db.rows<Ref & { external_id: string }>(sql`
    select r.external_id, r.target_id, r.hash, r.imported_at, r.created_at
    from unnest(${[...wanted.keys()]}::text[]) as wanted (id)
    join external_refs r on r.workspace_id = ${workspaceId} and r.source = ${source} and r.kind = ${kind}
      and r.external_id = wanted.id`)
  return new Map(rows.map((row) => [wanted.get(row.external_id) as string, row as Ref]))
}

export async function writeRefs(tx: Queryable, origin: Origin, kind: RefKind, refs: readonly NewRef[]) {
  if (refs.length === 0) return
  const rows = refs.map(({ external_id, target_id, key, url, hash, imported_at }) => ({
    workspace_id: origin.workspaceId,
    source: origin.source,
    kind,
    external_id: stored(external_id),
    target_id,
    key: key ? clip(key, 100) : null,
    url: url && url.length <= 2000 && /^https?:\/\/\S+$/.test(url) ? url : null,
    hash: hash ? `\\x${hash.toString('hex')}` : null,
    imported_at: imported_at ?? null,
    created_at: origin.startedAt,
  }))
  const columns = sql`workspace_id, source, kind, external_id, target_id, key, url, hash, imported_at, created_at`
  await tx.run(sql`
    ${insertRows(sql`external_refs`, columns, rows)}
    on conflict (workspace_id, source, kind, external_id) do update set
      target_id = excluded.target_id, key = excluded.key, url = excluded.url, hash = excluded.hash,
      imported_at = excluded.imported_at`)
}

/** External ids of issues that earlier runs created. */
export const earlierIssues = async (
  db: Queryable,
  { workspaceId, source, startedAt }: Origin,
): Promise<(id: string) => boolean> => {
  const rows = await db.rows<{ id: string }>(sql`
    select external_id as id from external_refs
    where workspace_id = ${workspaceId} and source = ${source} and kind = 'issue' and created_at < ${startedAt}`)
  const known = new Set(rows.map(({ id }) => id))
  return (id) => known.has(stored(id))
}
