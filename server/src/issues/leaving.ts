import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { changeIssues } from './many.ts'

/**
 * Unassigns a member who left or was removed, after their membership was deleted. A delegated issue keeps a person who
 * is accountable: the one who removed them, or the owner of longest standing (member.leaving-delegated-keeps-human). On
 * a personal issue that is only its reporter, but their agents are gone by now.
 */
export async function unassignLeaver(unit: UnitOfWork<Member>, leaverId: string) {
  const { tx, caller } = unit
  const assigned = await tx.rows<{ id: string }>(sql`
    select id from issues where assignee_id = ${leaverId} and workspace_id = ${caller.workspaceId}`)
  if (assigned.length === 0) return
  const successor = caller.id === leaverId ? await longestStandingOwner(unit) : caller.id
  await changeIssues(
    unit,
    assigned.map(({ id }) => id),
    ({ assignee_id, delegate_id }) =>
      assignee_id === leaverId ? { assignee_id: delegate_id ? successor : null } : null,
  )
}

/** There is one: the last owner cannot leave. */
async function longestStandingOwner({ tx, caller }: UnitOfWork<Member>): Promise<string> {
  const owner = await tx.row<{ id: string }>(sql`
    select user_id as id from memberships where workspace_id = ${caller.workspaceId} and role = 'owner'
    order by joined_at, user_id limit 1`)
  if (!owner) throw new Error(`workspace ${caller.workspaceId} has no owner`)
  return owner.id
}

/** Deletes the personal issues of an erased person. Only that person could see them, so there is no event. */
export const deletePersonalIssues = (tx: Tx, userId: string) =>
  tx.run(sql`delete from issues where personal and reporter_id = ${userId}`)
