import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { insertRows, sql } from '../db/sql.ts'
import { usedBytes } from '../files/store.ts'
import { newId } from '../ids.ts'
import type { Storage } from '../storage/storage.ts'
import { fetchAttachment, hostOf } from './fetch.ts'
import type { Pass } from './phases/phase.ts'
import { type Attachment, cleanName, cleanText } from './plan.ts'
import type { SourceAttachment, SourceRecord } from './record.ts'
import { findRefs } from './refs.ts'
import { type Claim, openKey, type StoredImport } from './state.ts'
import type { Survey } from './survey.ts'

const atOnce = 4

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
  const known = await ctx.db.rows<{ external_id: string; bytes: number }>(sql`
    select external_id, coalesce(bytes, 0)::float8 as bytes from import_attachments where import_id = ${one.id}`)
  const seen = new Set(known.map(({ external_id }) => external_id))
  let total = known.reduce((sum, { bytes }) => sum + bytes, await usedBytes(ctx.db, one.workspace_id))
  let done = 0
  const key = openKey(ctx, one)
  const host = one.connection ? hostOf(one.connection) : null

  const keep = async (attachment: SourceAttachment) => {
    const ref = (await findRefs(ctx.db, origin, 'file', [attachment.id])).get(attachment.id)
    const row = {
      import_id: one.id,
      workspace_id: one.workspace_id,
      external_id: attachment.id,
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
      const fetched =
        total >= ctx.config.workspaceBytes
          ? { ok: false as const, reason: 'The attachments exceed the storage of the workspace.' }
          : await fetchAttachment(ctx, attachment.url, key, host, async (body, bytes) => {
              await storage.put(stored, body, bytes)
            })
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
    if (record.kind !== 'attachment' || seen.has(record.id)) continue
    seen.add(record.id)
    waiting.push(record)
    if (waiting.length === atOnce) await flush()
  }
  await flush()
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
