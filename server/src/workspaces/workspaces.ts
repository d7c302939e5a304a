import { limits, type Workspace, type WorkspaceChange } from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { addMember, lockWorkspace, transactAs } from './members.ts'

const columns = sql`id, name, guidance, created_at, updated_at`

export const readWorkspace = async (db: Queryable, id: string) =>
  found(await db.row<Workspace>(sql`select ${columns} from workspaces where id = ${id}`))

/** `createAgent` adds the built-in agent, in the same transaction (agent.deployment-one-per-workspace). */
export const createWorkspace = (
  ctx: Context,
  caller: Person,
  name: string,
  createAgent: (unit: UnitOfWork, workspaceId: string) => Promise<unknown>,
) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    await mustBeBelowLimit(tx, caller.id)
    const workspaceId = newId('wsp')
    const workspace = await tx.row<Workspace>(sql`
      insert into workspaces (id, name, created_by, created_at, updated_at)
      values (${workspaceId}, ${name}, ${caller.id}, ${now}, ${now})
      returning ${columns}`)
    await addMember(unit, workspaceId, caller.id, 'owner')
    await createAgent(unit, workspaceId)
    await recordAudit(
      { ...unit, caller: { id: caller.id, workspaceId } },
      { action: 'workspace.created', subjectId: workspaceId, details: { name } },
    )
    return found(workspace)
  })

/** Locks the person, so that concurrent creates are counted (workspace.limit-per-person). */
async function mustBeBelowLimit(tx: Tx, personId: string) {
  await tx.rows(sql`select 1 from users where id = ${personId} for no key update`)
  const created = await tx.rows(sql`
    select 1 from workspaces where created_by = ${personId} limit ${limits.workspacesPerPerson}`)
  if (created.length >= limits.workspacesPerPerson) throw new ApiError('WORKSPACE_LIMIT_REACHED')
}

export const deleteWorkspaces = (tx: Tx, ids: readonly string[]) =>
  tx.run(sql`delete from workspaces where id = any(${ids})`)

export const updateWorkspace = (ctx: Context, caller: Member, change: WorkspaceChange) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now } = unit
    const { workspaceId } = caller
    await lockWorkspace(tx, workspaceId)
    const before = await readWorkspace(tx, workspaceId)
    const workspace = await tx.row<Workspace>(sql`
      update workspaces set
        name = coalesce(${change.name ?? null}, name),
        guidance = coalesce(${change.guidance ?? null}, guidance),
        updated_at = ${now}
      where id = ${workspaceId}
      returning ${columns}`)
    const after = found(workspace)
    await recordAudit(unit, {
      action: 'workspace.updated',
      subjectId: workspaceId,
      details: { fields: Object.keys(change), changes: changesBetween(before, after, ['name', 'guidance']) },
    })
    return after
  })
