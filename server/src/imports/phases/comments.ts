import { insertImportedComments } from '../../comments/imported.ts'
import { sql } from '../../db/sql.ts'
import { importedId } from '../../ids.ts'
import { readAttachments } from '../attachments.ts'
import { planComment } from '../plan.ts'
import type { SourceComment } from '../record.ts'
import { findRefs, writeRefs } from '../refs.ts'
import type { Problem } from '../survey.ts'
import { isImported, newIssueId, type Phase, recordsInBatches } from './phase.ts'

export const comments: Phase<SourceComment & { index: number }> = {
  kind: 'comments',
  total: ({ survey }) => survey.comments,
  batches: (pass) => (pass.survey.comments === 0 ? [] : recordsInBatches(pass, 'comment')),
  async plan(pass, db, items) {
    const { origin, survey, targets } = pass
    const refs = await findRefs(
      db,
      origin,
      'comment',
      items.map(({ id }) => id),
    )
    const positions = new Map(items.map(({ issue }) => [issue, survey.position(issue)]))
    const issueId = (issue: string) => {
      const position = positions.get(issue)
      return position === undefined ? issue : (survey.issues[position]?.id ?? issue)
    }
    const issueRefs = await findRefs(
      db,
      origin,
      'issue',
      items.map(({ issue }) => issueId(issue)),
    )
    const alive = new Set(
      (issueRefs.size === 0
        ? []
        : await db.rows<{ id: string }>(sql`
        select id from issues
        where id = any(${[...issueRefs.values()].map((ref) => ref.target_id)}) and not personal`)
      ).map(({ id }) => id),
    )
    const attachments = await readAttachments(
      db,
      pass,
      items.map(({ issue }) => issueId(issue)),
    )
    const problems: Problem[] = []
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    const created = new Map<
      string,
      { id: string; issue_id: string; author_id: string | null; text: string; created_at: string; updated_at: string }
    >()
    for (const { index, ...comment } of items) {
      const position = positions.get(comment.issue)
      const ref = issueRefs.get(issueId(comment.issue))
      const target = pass.strangers.has(issueId(comment.issue))
        ? null
        : ref
          ? alive.has(ref.target_id)
            ? ref.target_id
            : null
          : position !== undefined && isImported(pass, position)
            ? newIssueId(pass, position)
            : null
      if (refs.has(comment.id) || created.has(comment.id)) {
        counts.unchanged++
        continue
      }
      const ofComment = (attachments.get(issueId(comment.issue)) ?? []).filter((one) => one.comment === comment.id)
      const plan = target === null ? null : planComment(comment, targets, ofComment, pass.createdAt)
      if (target === null || plan === null) {
        counts.skipped++
        if (position === undefined && !ref)
          problems.push({
            row: comment.row,
            field: 'comment',
            value: comment.issue,
            message: 'is not in the import; its comment is skipped',
          })
        continue
      }
      counts.created++
      problems.push(...plan.problems)
      const time = new Date(Math.min(Date.parse(plan.item.created_at), pass.createdAt.getTime()))
      const id = importedId('cmt', time, index, `${origin.workspaceId} ${origin.source} comment ${comment.id}`)
      created.set(comment.id, { id, issue_id: target, ...plan.item })
    }
    return {
      counts,
      problems,
      async write(tx) {
        await insertImportedComments(tx, origin.workspaceId, [...created.values()])
        await writeRefs(
          tx,
          origin,
          'comment',
          [...created].map(([external_id, { id, updated_at }]) => ({
            external_id,
            target_id: id,
            imported_at: updated_at,
          })),
        )
      },
    }
  },
}
