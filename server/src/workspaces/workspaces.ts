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

const columns = sql`id, name, guidance, deletion_at, created_at, updated_at`

export const readWorkspace = async (db: Queryable, id: string) =>
  found(await db.row<Workspace>(sql`select ${columns} from workspaces where id = ${id}`))

/** For writes that do not come through the door as a caller of the workspace. */
export async function refusePendingDeletion(db: Queryable, id: string) {
  if (await db.row(sql`select 1 from workspaces where id = ${id} and deletion_at is not null`)) {
    throw new ApiError('WORKSPACE_PENDING_DELETION')
  }
}

type CreateAgent = (unit: UnitOfWork, workspaceId: string) => Promise<unknown>

export const createWorkspace = (ctx: Context, caller: Person, name: string, createAgent: CreateAgent) =>
  transact(ctx, caller, (unit) => addWorkspace(unit, caller.id, name, createAgent))

/** `createAgent` adds the built-in agent, in the same transaction (agent.deployment-one-per-workspace). */
export async function addWorkspace(unit: UnitOfWork, ownerId: string, name: string, createAgent: CreateAgent) {
  const { tx, now } = unit
  await mustBeBelowLimit(tx, ownerId)
  const workspaceId = newId('wsp')
  const workspace = await tx.row<Workspace>(sql`
    insert into workspaces (id, name, created_by, created_at, updated_at)
    values (${workspaceId}, ${name}, ${ownerId}, ${now}, ${now})
    returning ${columns}`)
  await addMember(unit, workspaceId, ownerId, 'owner')
  await createAgent(unit, workspaceId)
  await recordAudit(
    { ...unit, caller: { id: ownerId, workspaceId } },
    { action: 'workspace.created', subjectId: workspaceId, details: { name } },
  )
  return found(workspace)
}

interface RestoredWorkspace extends Omit<Workspace, 'deletion_at'> {
  last_issue_number: number
}

/** A workspace from an archive. It counts as created by the person, and has no member yet. */
export async function insertWorkspace(tx: Tx, personId: string, workspace: RestoredWorkspace) {
  await mustBeBelowLimit(tx, personId)
  const { id, name, guidance, last_issue_number, created_at, updated_at } = workspace
  await tx.run(sql`
    insert into workspaces (id, name, guidance, last_issue_number, created_by, created_at, updated_at)
    values (${id}, ${name}, ${guidance}, ${last_issue_number}, ${personId}, ${created_at}, ${updated_at})`)
}

/** Makes the person owner of a restored workspace and member of its teams. New issues get numbers that no code has. */
export async function openRestored(unit: UnitOfWork, workspaceId: string, personId: string) {
  const { tx, now } = unit
  await tx.run(sql`
    update teams t set last_issue_number = greatest(last_issue_number, coalesce((
      select max(split_part(c.code, '-', 2)::int) from issue_codes c
      where c.workspace_id = t.workspace_id and split_part(c.code, '-', 1) = t.key), 0))
    where workspace_id = ${workspaceId}`)
  // Issues without a team have X in place of a key.
  await tx.run(sql`
    update workspaces w set last_issue_number = greatest(last_issue_number, coalesce((
      select max(split_part(c.code, '-', 2)::int) from issue_codes c
      where c.workspace_id = w.id and split_part(c.code, '-', 1) = 'X'), 0))
    where id = ${workspaceId}`)
  await addMember(unit, workspaceId, personId, 'owner')
  await tx.run(sql`
    insert into team_members (workspace_id, team_id, user_id, joined_at)
    select workspace_id, id, ${personId}, ${now} from teams where workspace_id = ${workspaceId}`)
}

/** Locks the person, so that concurrent creates are counted (workspace.limit-per-person). */
export async function mustBeBelowLimit(tx: Tx, personId: string) {
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
