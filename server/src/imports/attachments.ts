import { programLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'
import { lockStorage, usedBytes } from '../files/store.ts'
import { newId } from '../ids.ts'
import type { Storage } from '../storage/storage.ts'
import { fetchAttachment, hostOf } from './fetch.ts'
import type { Pass } from './phases/phase.ts'
import { type Attachment, cleanName, cleanText } from './plan.ts'
import type { SourceAttachment, SourceRecord } from './record.ts'
import { findRefs, stored as storedId } from './refs.ts'
import { type Claim, openKey, type StoredImport } from './state.ts'
import type { Survey } from './survey.ts'

const atOnce = 4
const storageFull = 'The storage of the workspace is full.'
const itemFull = `It has ${programLimits.filesPerItem} files, the most that one issue or comment can have.`

/**
 * Fetches the attachments while the import is read: the key is erased afterwards, and the preview knows which ones
 * failed. Each is tried once.
 */
export async function fetchAttachments(
  ctx: Context,
  storage: Storage,
  one: StoredImport,
  survey: Survey,
  records: () => AsyncIterable<SourceRecord>,
  claim: Claim,
) {
  const origin = { workspaceId: one.workspace_id, source: one.source, startedAt: ctx.clock.now() }
  const known = await ctx.db.rows<{ external_id: string; bytes: number; item: string; is_link: boolean }>(sql`
    select external_id, coalesce(bytes, 0)::float8 as bytes, coalesce(comment, issue) as item, is_link
    from import_attachments where import_id = ${one.id}`)
  const seen = new Set(known.map(({ external_id }) => external_id))
  const filesOf = new Map<string, number>()
  const countFile = (item: string) => {
    const count = (filesOf.get(item) ?? 0) + 1
    filesOf.set(item, count)
    return count
  }
  for (const { item, is_link } of known) if (!is_link) countFile(item)
  let total = known.reduce((sum, { bytes }) => sum + bytes, await usedBytes(ctx.db, one.workspace_id))
  let done = 0
  const key = openKey(ctx, one)
  const host = one.connection ? hostOf(one.connection) : null

  const keep = async (attachment: SourceAttachment) => {
    const ref = (await findRefs(ctx.db, origin, 'file', [attachment.id])).get(attachment.id)
    const row = {
      import_id: one.id,
      workspace_id: one.workspace_id,
      external_id: storedId(attachment.id),
      issue: survey.issues[survey.position(attachment.issue) ?? -1]?.id ?? attachment.issue,
      url: cleanText(attachment.url).slice(0, 4000),
      text_url: attachment.textUrl ?? null,
      comment: attachment.comment ?? null,
      name: cleanName(attachment.name, 200),
      is_link: attachment.isLink ?? false,
      row: attachment.row,
      fetched: ref !== undefined,
      key: null as string | null,
      bytes: null as number | null,
      file_id: ref?.target_id ?? newId('fil'),
      failure: null as string | null,
    }
    if (!row.is_link && !row.fetched) {
      const stored = `imports/${one.id}/${row.file_id}`
      const full =
        countFile(row.comment ?? row.issue) > programLimits.filesPerItem
          ? itemFull
          : total >= ctx.config.workspaceBytes
            ? storageFull
            : null
      const fetched =
        full !== null
          ? { ok: false as const, reason: full }
          : await fetchAttachment(
              ctx,
              attachment.url,
              key,
              host,
              async (body, bytes) => {
                await storage.put(stored, body, bytes)
              },
              claim.signal,
            )
      if (fetched.ok) {
        Object.assign(row, { fetched: true, key: stored, bytes: fetched.bytes })
        total += fetched.bytes
      } else row.failure = fetched.reason
    }
    const columns = sql`
      import_id, workspace_id, external_id, issue, url, text_url, comment, name, is_link, row, fetched, key, bytes, file_id,
      failure`
    await ctx.db.run(sql`${insertRows(sql`import_attachments`, columns, [row])} on conflict do nothing`)
  }

  let waiting: SourceAttachment[] = []
  const flush = async () => {
    await Promise.all(waiting.map(keep))
    done += waiting.length
    waiting = []
    await claim.beat('attachments', done, survey.attachments)
  }
  await claim.beat('attachments', 0, survey.attachments, true)
  for await (const record of records()) {
    if (record.kind !== 'attachment' || seen.has(storedId(record.id))) continue
    seen.add(storedId(record.id))
    waiting.push(record)
    if (waiting.length === atOnce) await flush()
  }
  await flush()
  await ctx.db.tx(async (tx) => {
    await claim.confirm(tx)
    await fitAttachments(tx, one, ctx.config.workspaceBytes)
  })
}

/**
 * Decides which of the fetched attachments fit into the storage of the workspace; the others keep their address. Again
 * when the run begins: files may have been added or deleted since.
 */
export async function fitAttachments(tx: Tx, { id, workspace_id }: StoredImport, limit: number) {
  await lockStorage(tx, workspace_id)
  const used = await usedBytes(tx, workspace_id)
  await tx.run(sql`
    update import_attachments a set fetched = f.fits, failure = case when f.fits then null else ${storageFull} end
    from (
      select external_id, ${used}::float8 + sum(bytes) over (order by external_id) <= ${limit}::float8 as fits
      from import_attachments
      where import_id = ${id} and key is not null and not exists (select from files where id = file_id)
    ) f
    where a.import_id = ${id} and a.external_id = f.external_id`)
}

/** Attachments that the survey found, by issue. */
export const readAttachments = async (db: Queryable, { importId, survey }: Pass, ids: string[]) => {
  const rows =
    survey.attachments === 0
      ? []
      : await db.rows<Attachment & { issue: string }>(sql`
    select external_id, issue, name, url, text_url, comment, is_link, file_id, fetched from import_attachments
    where import_id = ${importId} and issue = any(${ids}) order by external_id`)
  const byIssue = new Map<string, Attachment[]>()
  for (const row of rows) byIssue.set(row.issue, [...(byIssue.get(row.issue) ?? []), row])
  return byIssue
}
