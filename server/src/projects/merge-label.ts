import type { Label } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { changeIssues } from '../issues/many.ts'
import { labels, rememberMerged } from '../planning/resources.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { replaceLabelOfProjects } from './projects.ts'

/**
 * Replaces a label by another on all issues and projects with ordinary updates, then deletes it. An issue that gets the
 * label at the same time loses it, as when a label is deleted.
 */
export const mergeLabel = (ctx: Context, caller: Member, id: string, intoId: string): Promise<Label> =>
  transact(ctx, caller, async (unit) => {
    const into = await holdLabels(unit, id, intoId)
    const marked = await unit.tx.rows<{ id: string }>(sql`
      select issue_id as id from issue_labels where label_id = ${id} and workspace_id = ${caller.workspaceId}`)
    await changeIssues(
      unit,
      marked.map((issue) => issue.id),
      ({ label_ids }) =>
        label_ids.includes(id) ? { label_ids: [...new Set([...label_ids.filter((one) => one !== id), intoId])] } : null,
    )
    await replaceLabelOfProjects(unit, id, intoId)
    await rememberMerged(unit, id, intoId)
    await labels.remove(unit, id)
    return into
  })

/** Keeps both from being deleted meanwhile. Two merges of a workspace wait for each other. */
async function holdLabels({ tx, caller }: UnitOfWork<Member>, id: string, intoId: string): Promise<Label> {
  await tx.rows(sql`select 1 from workspaces where id = ${caller.workspaceId} for no key update`)
  const held = await tx.rows<Label>(sql`
    select id, name, color, created_at, updated_at from labels
    where workspace_id = ${caller.workspaceId} and id = any(${[id, intoId]}) order by id for key share`)
  found(held.find((label) => label.id === id))
  const into = held.find((label) => label.id === intoId)
  if (!into) throw invalid({ into_label_id: 'is not a label of this workspace' })
  if (id === intoId) throw invalid({ into_label_id: 'must be another label' })
  return into
}
