import type { Member as MemberRecord, Role } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { type Actor, isManager, type Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { endGrantsOf } from '../login/grants.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { releaseViews } from '../views/views.ts'
import { memberCovered } from './coverage.ts'

const columns = sql`u.id, u.display_name, u.email, m.role, m.joined_at`

export const listMembers = (ctx: Context, caller: Actor, query: PageQuery) =>
  page<MemberRecord>(
    ctx.keys,
    'members',
    query,
    (member) => [member.joined_at, member.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${columns}
      from memberships m join users u on u.id = m.user_id
      where m.workspace_id = ${caller.workspaceId} and ${memberCovered(caller, sql`m.user_id`)}
        ${after ? sql`and (m.joined_at, m.user_id) < (${after[0]}, ${after[1]})` : none}
      order by m.joined_at desc, m.user_id desc limit ${count}`),
  )

export const addMember = ({ tx, now }: UnitOfWork, workspaceId: string, userId: string, role: Role) =>
  tx.run(sql`
    insert into memberships (workspace_id, user_id, role, joined_at)
    values (${workspaceId}, ${userId}, ${role}, ${now})
    on conflict do nothing`)

/**
 * The caller may have been removed or demoted since the request was admitted. Call first in a transaction: locks the
 * caller's membership until the end of it, and returns the unit with the current role.
 */
export async function confirmRole(unit: UnitOfWork<Member>, needed: 'member' | 'manager'): Promise<UnitOfWork<Member>> {
  const { tx, caller } = unit
  const held = await tx.row<{ role: Role; pendingDeletion: boolean }>(sql`
    select m.role, w.deletion_at is not null as "pendingDeletion"
    from memberships m join workspaces w on w.id = m.workspace_id
    where m.workspace_id = ${caller.workspaceId} and m.user_id = ${caller.id} for share of m`)
  if (!held) throw new ApiError('WORKSPACE_ACCESS_DENIED')
  // A caller who was admitted although it is pending uses a route that may be used then.
  if (held.pendingDeletion && !caller.pendingDeletion) throw new ApiError('WORKSPACE_PENDING_DELETION')
  const confirmed = { ...caller, role: held.role }
  if (needed === 'manager' && !isManager(confirmed)) throw new ApiError('FORBIDDEN')
  return { ...unit, caller: confirmed }
}

/** Runs `work` in a transaction that begins with `confirmRole`. */
export const transactAs = <T>(
  ctx: Context,
  caller: Member,
  needed: 'member' | 'manager',
  work: (unit: UnitOfWork<Member>) => Promise<T>,
) => transact(ctx, caller, async (unit) => work(await confirmRole(unit, needed)))

export const changeRole = (ctx: Context, admitted: Member, userId: string, role: Role) =>
  transact(ctx, admitted, async (admission) => {
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const unit = await confirmRole(admission, 'manager')
    const { tx, caller } = unit
    const member = await findMember(tx, caller.workspaceId, userId)
    await guardOwners(tx, caller, member.role, role)
    await setRole(tx, caller.workspaceId, userId, role)
    await recordAudit(unit, {
      action: 'member.role_changed',
      subjectId: userId,
      details: { from: member.role, to: role },
    })
    return { ...member, role }
  })

async function setRole(tx: Tx, workspaceId: string, userId: string, role: Role) {
  await tx.run(sql`update memberships set role = ${role} where workspace_id = ${workspaceId} and user_id = ${userId}`)
  await deleteInvitationsBeyond(tx, workspaceId, userId, role)
}

/** For the operator: in place of a caller's role, only the last owner is protected. Returns the previous role. */
export const changeRoleAsOperator = (ctx: Context, workspaceId: string, userId: string, role: Role) =>
  transact(ctx, { id: null, workspaceId }, async (unit) => {
    const { tx } = unit
    await lockWorkspace(tx, workspaceId)
    const { role: from } = await findMember(tx, workspaceId, userId)
    if (from === role) return from
    if (from === 'owner') await refuseLastOwner(tx, workspaceId)
    await setRole(tx, workspaceId, userId, role)
    await recordAudit(unit, { action: 'operator.role_changed', subjectId: userId, details: { from, to: role } })
    return from
  })

/** `removeAlso` removes the member's items in features that depend on this one. */
export const removeMember = (
  ctx: Context,
  admitted: Member,
  userId: string,
  removeAlso: (unit: UnitOfWork<Member>) => Promise<void>,
) =>
  transact(ctx, admitted, async (admission) => {
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const unit = await confirmRole(admission, 'member')
    const { tx, now, caller } = unit
    if (userId !== caller.id && !isManager(caller)) throw new ApiError('FORBIDDEN')
    const member = await findMember(tx, caller.workspaceId, userId)
    await guardOwners(tx, caller, member.role, null)
    await tx.run(sql`delete from memberships where workspace_id = ${caller.workspaceId} and user_id = ${userId}`)
    await deleteInvitationsBeyond(tx, caller.workspaceId, userId, 'member')
    await releaseViews(tx, caller.workspaceId, userId)
    await removeAlso(unit)
    await unit.hooks?.memberGone(unit, caller.workspaceId, userId)
    await endGrantsOf(tx, now, userId, caller.workspaceId)
    await recordAudit(unit, {
      action: 'member.removed',
      subjectId: userId,
      details: { role: member.role },
    })
  })

/** Workspaces that would lose their only owner. One that is being purged needs none. */
export const onlyOwnedBy = (db: Queryable, userId: string) =>
  db.rows<{ id: string; name: string }>(sql`
    select w.id, w.name from memberships m join workspaces w on w.id = m.workspace_id
    where m.user_id = ${userId} and m.role = 'owner' and w.purged_since is null and not exists (
      select from memberships o where o.workspace_id = w.id and o.user_id <> m.user_id and o.role = 'owner')
    order by w.id`)

/**
 * For a person who is erased after a restore, although they own the workspace alone there: the admin, or else the
 * member, of longest standing becomes owner. If there is none, the workspace stays without members.
 */
export const replaceOnlyOwner = (ctx: Context, workspaceId: string, userId: string) =>
  transact(ctx, { id: null, workspaceId }, async (unit) => {
    const { tx } = unit
    await lockWorkspace(tx, workspaceId)
    const heir = await tx.row<{ id: string; role: Role }>(sql`
      select user_id as id, role from memberships where workspace_id = ${workspaceId} and user_id <> ${userId}
      order by role = 'admin' desc, joined_at, user_id limit 1`)
    if (!heir) {
      return void (await tx.run(sql`
        delete from memberships where workspace_id = ${workspaceId} and user_id = ${userId}`))
    }
    await setRole(tx, workspaceId, heir.id, 'owner')
    const details = { from: heir.role, to: 'owner' }
    await recordAudit(unit, { action: 'operator.role_changed', subjectId: heir.id, details })
  })

/** Serialises changes of members, names of app users and counts of webhooks: two last owners cannot leave at once. */
export const lockWorkspace = (tx: Tx, workspaceId: string) =>
  tx.rows(sql`select 1 from workspaces where id = ${workspaceId} for no key update`)

/** Deletes a member's invitations that their new role could not issue, so that they cannot use one to regain a role. */
const deleteInvitationsBeyond = (tx: Tx, workspaceId: string, issuer: string, role: Role) =>
  tx.run(sql`
    delete from invitations where workspace_id = ${workspaceId} and invited_by = ${issuer}
      and (${role} = 'member' or (${role} = 'admin' and role = 'owner'))`)

async function findMember(tx: Tx, workspaceId: string, userId: string): Promise<MemberRecord> {
  return found(
    await tx.row<MemberRecord>(sql`
      select ${columns}
      from memberships m join users u on u.id = m.user_id
      where m.workspace_id = ${workspaceId} and m.user_id = ${userId}`),
  )
}

/** workspace.admin-cannot-make-owner, workspace.last-owner-cannot-leave. `to` is null when the member leaves. */
async function guardOwners(tx: Queryable, caller: Member, from: Role, to: Role | null) {
  if (from !== 'owner' && to !== 'owner') return
  if (caller.role !== 'owner')
    throw new ApiError('FORBIDDEN', {}, { message: 'Only an owner can give or take the role owner.' })
  if (from !== 'owner' || to === 'owner') return
  await refuseLastOwner(tx, caller.workspaceId)
}

/** Call when an owner is about to lose the role, in a locked workspace. */
async function refuseLastOwner(tx: Queryable, workspaceId: string) {
  const owners = await tx.rows(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and role = 'owner' limit 2`)
  if (owners.length === 1) throw new ApiError('LAST_OWNER')
}
