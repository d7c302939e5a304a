import { recordAudit } from '../audit/record.ts'
import { sql } from '../db/sql.ts'
import type { Provider } from '../sso-config.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { addMember } from '../workspaces/members.ts'

/**
 * Adds the user to the provider's workspaces, once for each identity: a member who was removed stays removed, and a role
 * that a manager gave is kept (sso.join-once). A workspace whose deletion is pending is joined when that is canceled.
 */
export async function joinWorkspaces(unit: UnitOfWork, { id, join }: Provider, identityId: string, userId: string) {
  if (join.length === 0) return
  const { tx, now } = unit
  const joined = await tx.rows<{ workspace_id: string }>(sql`
    insert into sso_joins (identity_id, workspace_id, joined_at)
    select ${identityId}, w.id, ${now} from workspaces w
    where w.id = any(${join.map(({ workspaceId }) => workspaceId)}) and w.deletion_at is null order by w.id for key share
    on conflict do nothing returning workspace_id`)
  for (const { workspace_id: workspaceId } of joined) {
    const role = join.find((entry) => entry.workspaceId === workspaceId)?.role ?? 'member'
    if ((await addMember(unit, workspaceId, userId, role)) === 0) continue
    await recordAudit(
      { ...unit, caller: { id: userId, workspaceId } },
      { action: 'member.joined', subjectId: userId, details: { role, provider: id } },
    )
  }
}
