import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { copyImportedFile, insertImportedFile, type StoredBytes } from '../files/imported.ts'
import { keyOf, lockStorage, usedBytes } from '../files/store.ts'
import type { Storage } from '../storage/storage.ts'
import { isImported, newIssueId, type Pass, type Phase } from './phases/phase.ts'
import { findRefs, writeRefs } from './refs.ts'
import type { Problem } from './survey.ts'

interface FetchedAttachment {
  external_id: string
  issue: string
  comment: string | null
  name: string
  url: string
  row: number
  is_link: boolean
  fetched: boolean
  key: string | null
  bytes: number
  file_id: string
  failure: string | null
}

const atOnce = 20

/** Makes the fetched attachments files of their issues and comments. */
export const filesPhase = (ctx: Context, storage: Storage): Phase<FetchedAttachment> => {
  const copied = new Map<string, StoredBytes>()
  return {
    ...planOfFiles(ctx, copied),
    async prepare(_pass, items) {
      copied.clear()
      for (const { file_id, key, bytes } of items) {
        if (key !== null) copied.set(file_id, await copyImportedFile(storage, file_id, key, bytes))
      }
    },
  }
}

const planOfFiles = (ctx: Context, copied: ReadonlyMap<string, StoredBytes>): Phase<FetchedAttachment> => ({
  kind: 'files',
  total: ({ survey }) => survey.attachments,
  async *batches({ survey, importId }: Pass) {
    let last = ''
    for (let more = survey.attachments > 0; more; ) {
      const rows = await ctx.db.rows<FetchedAttachment>(sql`
        select external_id, issue, comment, name, url, row, is_link, fetched, key, coalesce(bytes, 0)::float8 as bytes,
          file_id, failure
        from import_attachments where import_id = ${importId} and external_id > ${last}
        order by external_id limit ${atOnce}`)
      if (rows.length > 0) yield rows
      last = rows.at(-1)?.external_id ?? last
      more = rows.length === atOnce
    }
  },
  async plan(pass, db, items) {
    const { origin, survey } = pass
    const files = items.filter(({ is_link }) => !is_link)
    const refs = await findRefs(
      db,
      origin,
      'file',
      files.map(({ external_id }) => external_id),
    )
    const issueRefs = await findRefs(
      db,
      origin,
      'issue',
      files.map(({ issue }) => issue),
    )
    const commentRefs = await findRefs(
      db,
      origin,
      'comment',
      files.flatMap(({ comment }) => comment ?? []),
    )
    const problems: Problem[] = []
    // A preview has decided before what fits.
    const isRun = pass.numbers !== null
    if (isRun) await lockStorage(db, origin.workspaceId)
    let left = isRun ? ctx.config.workspaceBytes - (await usedBytes(db, origin.workspaceId)) : Number.POSITIVE_INFINITY
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    const created: (FetchedAttachment & { target: { type: 'issue' | 'comment'; id: string } })[] = []
    for (const file of files) {
      const position = survey.position(file.issue)
      const issueId = pass.strangers.has(file.issue)
        ? null
        : (issueRefs.get(file.issue)?.target_id ??
          (position !== undefined && isImported(pass, position) ? newIssueId(pass, position) : null))
      if (refs.has(file.external_id)) counts.unchanged++
      else if (issueId === null) counts.skipped++
      else if (!file.fetched || file.key === null) {
        counts.skipped++
        problems.push({
          row: file.row,
          field: 'attachment',
          value: file.url,
          message: `could not be fetched, so its address is kept: ${file.failure ?? 'unknown'}`,
        })
      } else if (file.bytes > left) {
        // Since the run began, others have used the storage.
        counts.skipped++
        await ctx.storage?.remove(keyOf(file.file_id))
        const message = 'is left out: the storage of the workspace is full'
        problems.push({ row: file.row, field: 'attachment', value: file.url, message })
      } else {
        left -= file.bytes
        counts.created++
        const commentId = file.comment && commentRefs.get(file.comment)?.target_id
        created.push({
          ...file,
          target: commentId ? { type: 'comment', id: commentId } : { type: 'issue', id: issueId },
        })
      }
    }
    return {
      counts,
      problems,
      async write(tx, now) {
        for (const { file_id, bytes, name, target, external_id } of created) {
          const stored = copied.get(file_id)
          if (!stored) throw new Error(`the bytes of ${file_id} were not copied`)
          await insertImportedFile(tx, now, {
            id: file_id,
            workspaceId: origin.workspaceId,
            name,
            bytes,
            stored,
            target,
          })
          await writeRefs(tx, origin, 'file', [{ external_id, target_id: file_id }])
        }
      },
    }
  },
})
