import type { Workspace } from '@baton/protocol'
import { stopSessionsOf } from '../agent-sessions/stop.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { pauseEndpoints, resumeEndpoints } from '../delivery/endpoints.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { cancelImports } from '../imports/stop.ts'
import { transact } from '../unit-of-work.ts'
import { clearDeletion, setDeletion } from '../workspaces/deletion.ts'
import { confirmRole, lockWorkspace } from '../workspaces/members.ts'
import { readWorkspace } from '../workspaces/workspaces.ts'
import { mailOwners } from './mails.ts'

const sessionsAtOnce = 50

/** export.deletion-confirmed */
export async function startDeletion(ctx: Context, admitted: Member, name: string): Promise<Workspace> {
  const workspace = await transact(ctx, admitted, async (admission) => {
    const { tx, now, config } = admission
    const { workspaceId } = admitted
    await lockWorkspace(tx, workspaceId)
    const unit = await confirmRole(admission, 'manager')
    refuseUnlessOwner(unit.caller)
    if ((await readWorkspace(tx, workspaceId)).name !== name) {
      throw invalid({ name: 'must be the exact name of the workspace' })
    }
    const deletion = found(await setDeletion(tx, workspaceId, now, config.deletionDays))
    await pauseEndpoints(tx, workspaceId)
    await cancelImports(tx, workspaceId)
    const { at, ...mailed } = deletion
    await recordAudit(unit, {
      action: 'workspace.deletion_started',
      subjectId: workspaceId,
      details: { deletion_at: at },
    })
    await mailOwners(unit, ctx.keys, 'deletion_started', mailed)
    return readWorkspace(tx, workspaceId)
  })
  // After the commit, in small transactions: there may be many. The worker stops those that are left.
  await stopSessions(ctx, admitted).catch(({ message }: Error) =>
    ctx.log.warn({ message }, 'could not stop all agent sessions; retrying'),
  )
  return workspace
}

export async function stopSessions(ctx: Context, caller: Member) {
  while ((await stopSessionsOf(ctx, caller, sessionsAtOnce)) === sessionsAtOnce);
}

/** export.deletion-canceled */
export const cancelDeletion = (ctx: Context, admitted: Member): Promise<void> =>
  transact(ctx, admitted, async (admission) => {
    const { tx } = admission
    const { workspaceId } = admitted
    await lockWorkspace(tx, workspaceId)
    const unit = await confirmRole(admission, 'manager')
    refuseUnlessOwner(unit.caller)
    if (!(await clearDeletion(tx, workspaceId))) throw notFound()
    await resumeEndpoints(tx, sql`workspace_id = ${workspaceId}`)
    await recordAudit(unit, { action: 'workspace.deletion_canceled', subjectId: workspaceId })
  })

function refuseUnlessOwner({ role }: Member) {
  if (role !== 'owner') {
    throw new ApiError('FORBIDDEN', {}, { message: 'Only an owner can delete the workspace or cancel its deletion.' })
  }
}
