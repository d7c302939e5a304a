import { type Invitation, limits, type NewInvitation, type Role } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { ApiError, found, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { transact } from '../unit-of-work.ts'
import { addMember, transactAs } from './members.ts'
import { readWorkspace } from './workspaces.ts'

const columns = sql`id, email, role, invited_by, created_at, expires_at`

export const listInvitations = (ctx: Context, { workspaceId }: Member, query: PageQuery) =>
  page<Invitation>(
    ctx.keys,
    'invitations',
    query,
    (invitation) => [invitation.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${columns} from invitations
      where workspace_id = ${workspaceId} and expires_at > ${ctx.clock.now()}
        ${after ? sql`and id < ${after[0]}` : none}
      order by id desc limit ${count}`),
  )

export async function invite(ctx: Context, caller: Member, { email: sent, role }: NewInvitation) {
  const { id: actorId, workspaceId } = caller
  const email = sent.toLowerCase()
  const token = newSecret('')
  const invitation = await transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now, caller: issuer } = unit
    if (role === 'owner' && issuer.role !== 'owner') {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only an owner can invite an owner.' })
    }
    const id = newId('inv')
    const created = await tx.row<Invitation>(sql`
      insert into invitations (id, workspace_id, email, role, token_hash, invited_by, created_at, expires_at)
      values (${id}, ${workspaceId}, ${email}, ${role}, ${sha256(token)}, ${actorId}, ${now},
        ${plus(now, days(limits.invitationLifetimeDays))})
      returning ${columns}`)
    await recordAudit(unit, { action: 'invitation.created', subjectId: id, details: { email, role } })
    return found(created)
  })
  return { invitation, token }
}

export const withdrawInvitation = (ctx: Context, caller: Member, id: string) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { email, role } = found(
      await unit.tx.row<Invitation>(sql`
        delete from invitations where id = ${id} and workspace_id = ${caller.workspaceId} returning ${columns}`),
    )
    await recordAudit(unit, { action: 'invitation.withdrawn', subjectId: id, details: { email, role } })
  })

/** Any signed-in person with the token can join. One DELETE uses it up, so two requests cannot both succeed. */
export const acceptInvitation = (ctx: Context, caller: Person, token: string) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const invitation = await tx.row<{ workspace_id: string; role: Role }>(sql`
      delete from invitations where token_hash = ${sha256(token)} and expires_at > ${now}
      returning workspace_id, role`)
    if (!invitation) throw notFound()
    const { workspace_id: workspaceId, role } = invitation
    if ((await addMember(unit, workspaceId, caller.id, role)) === 0) throw new ApiError('ALREADY_MEMBER')
    await recordAudit(
      { ...unit, caller: { id: caller.id, workspaceId } },
      { action: 'member.joined', subjectId: caller.id, details: { role } },
    )
    return { workspace: await readWorkspace(tx, workspaceId), role }
  })

export const sweepInvitations = (db: Queryable, now: Date) =>
  db.run(sql`delete from invitations where expires_at <= ${now}`)
