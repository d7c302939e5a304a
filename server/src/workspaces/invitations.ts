import {
  accountLimits,
  type Invitation,
  type InvitationPreview,
  limits,
  type NewInvitation,
  type Role,
} from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { type Keyring, newSecret, sha256 } from '../crypto.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { type Allowance, networkOf, rateLimited, takeOne } from '../http/rate-limit.ts'
import { takeOneInHour } from '../http/rate-window.ts'
import { newId } from '../ids.ts'
import { cancelMails, queueMail } from '../mail/queue.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { addMember, transactAs } from './members.ts'
import { readWorkspace } from './workspaces.ts'

const previewsPerAddress: Allowance = {
  limit: limits.invitationPreviewsPerAddress,
  periodMs: limits.signInPeriodSeconds * 1000,
}

/** Of the invitation `i` and its mail `m`. */
const columns = sql`i.id, i.email, i.role, i.invited_by, i.team_ids, i.created_at, i.expires_at,
  case m.state when 'pending' then 'queued' when 'sent' then 'sent' when 'failed' then 'failed' else 'none' end as mail`
const invitationsWithMail = sql`invitations i left join mails m on m.id = i.mail_id`

export const listInvitations = (ctx: Context, { workspaceId }: Member, query: PageQuery) =>
  page<Invitation>(
    ctx.keys,
    'invitations',
    query,
    (invitation) => [invitation.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${columns} from ${invitationsWithMail}
      where i.workspace_id = ${workspaceId} and i.expires_at > ${ctx.clock.now()}
        ${after ? sql`and i.id < ${after[0]}` : none}
      order by i.id desc limit ${count}`),
  )

export async function invite(ctx: Context, caller: Member, { email: sent, role, team_ids = [] }: NewInvitation) {
  const { id: actorId, workspaceId } = caller
  const email = sent.toLowerCase()
  const token = newSecret('')
  const invitation = await transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now, caller: issuer } = unit
    if (role === 'owner' && issuer.role !== 'owner') {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only an owner can invite an owner.' })
    }
    const id = newId('inv')
    const teamIds = await knownTeams(tx, workspaceId, team_ids)
    await tx.run(sql`
      insert into invitations (id, workspace_id, email, role, token_hash, invited_by, team_ids, created_at, expires_at)
      values (${id}, ${workspaceId}, ${email}, ${role}, ${sha256(token)}, ${actorId}, ${teamIds}, ${now},
        ${plus(now, days(limits.invitationLifetimeDays))})`)
    if (unit.config.mail) await queueInvitation(unit, ctx.keys, id, 'first')
    const details = { email, role, ...(teamIds.length > 0 && { team_ids: teamIds }) }
    await recordAudit(unit, { action: 'invitation.created', subjectId: id, details })
    return readInvitation(tx, id)
  })
  return { invitation, token }
}

const readInvitation = async (tx: Queryable, id: string) =>
  found(await tx.row<Invitation>(sql`select ${columns} from ${invitationsWithMail} where i.id = ${id}`))

/**
 * The mail has its own token, which only the owner of the address can know: it verifies the address at sign-up. The
 * token of an earlier mail stops working.
 */
async function queueInvitation(unit: UnitOfWork<Member>, keys: Keyring, id: string, mailing: 'first' | 'again') {
  const { tx, now, caller } = unit
  await takeOneInHour(tx, `invitation mails ${caller.workspaceId}`, accountLimits.invitationMailsPerWorkspace, now)
  const token = newSecret('')
  const { email, expires_at } = await readInvitation(tx, id)
  const mailId = await queueMail(unit, keys, {
    kind: 'invitation',
    address: email,
    workspaceId: caller.workspaceId,
    data: { invitation_id: id, mailing },
    secret: token,
    expiresAt: new Date(expires_at),
  })
  await tx.run(sql`update invitations set mail_id = ${mailId}, mail_token_hash = ${sha256(token)} where id = ${id}`)
}

/** mail.invitation-sent: mails an open invitation again. */
export const sendInvitation = (ctx: Context, caller: Member, id: string) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now, config } = unit
    const { mail_id } = found(
      await tx.row<{ mail_id: string | null }>(sql`
        select mail_id from invitations
        where id = ${id} and workspace_id = ${caller.workspaceId} and expires_at > ${now} for update`),
    )
    if (!config.mail) throw new ApiError('MAIL_NOT_CONFIGURED')
    await refuseManyResends(unit, id)
    if (mail_id) await cancelMails(unit, [mail_id])
    await queueInvitation(unit, ctx.keys, id, 'again')
    return readInvitation(tx, id)
  })

/** Call with the invitation locked, so that concurrent resends are counted. */
async function refuseManyResends({ tx, now, caller }: UnitOfWork<Member>, id: string) {
  const resends = await tx.rows<{ created_at: string }>(sql`
    select created_at from mails
    where workspace_id = ${caller.workspaceId} and created_at > ${plus(now, -days(1))} and kind = 'invitation'
      and data->>'invitation_id' = ${id} and data->>'mailing' = 'again'
    order by created_at desc limit ${accountLimits.resendsPerInvitation}`)
  const oldest = resends[accountLimits.resendsPerInvitation - 1]
  if (!oldest) return
  const waitMs = Date.parse(oldest.created_at) + days(1) - now.getTime()
  throw rateLimited('invitation', waitMs)
}

async function knownTeams(tx: Queryable, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const wanted = [...new Set(ids)]
  const teams = await tx.rows<{ id: string }>(sql`
    select id from teams where workspace_id = ${workspaceId} and id = any(${wanted}) order by id`)
  if (teams.length < wanted.length) throw invalid({ team_ids: 'contains an id that is not a team of this workspace' })
  return teams.map(({ id }) => id)
}

/** The token that the manager got, or that of the mail. */
const hasToken = (token: string) => sql`(i.token_hash = ${sha256(token)} or i.mail_token_hash = ${sha256(token)})`

/** For the page that asks whether to join. Unknown, used and expired tokens give the same answer. */
export async function previewInvitation({ db, clock }: Context, address: string, token: string) {
  const now = clock.now()
  await takeOne(db, `invitation address ${networkOf(address)}`, previewsPerAddress, now)
  return found(
    await db.row<InvitationPreview>(sql`
      select jsonb_build_object('name', w.name) as workspace, i.email, i.role, i.expires_at,
        case when u.id is not null then jsonb_build_object('name', u.display_name) end as inviter,
        coalesce((
          select jsonb_agg(jsonb_build_object('key', t.key, 'name', t.name) order by t.name, t.id) from teams t
          where t.workspace_id = i.workspace_id and t.id = any(i.team_ids)), '[]') as teams
      from invitations i join workspaces w on w.id = i.workspace_id left join users u on u.id = i.invited_by
      where ${hasToken(token)} and i.expires_at > ${now}`),
  )
}

export const withdrawInvitation = (ctx: Context, caller: Member, id: string) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { email, role } = found(
      await unit.tx.row<Pick<Invitation, 'email' | 'role'>>(sql`
        delete from invitations where id = ${id} and workspace_id = ${caller.workspaceId} returning email, role`),
    )
    await recordAudit(unit, { action: 'invitation.withdrawn', subjectId: id, details: { email, role } })
  })

/** Any signed-in person with the token can join. One DELETE uses it up, so two requests cannot both succeed. */
export const acceptInvitation = (ctx: Context, caller: Person, token: string) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const invitation = await tx.row<{ workspace_id: string; role: Role; team_ids: string[] }>(sql`
      delete from invitations i where ${hasToken(token)} and i.expires_at > ${now}
      returning workspace_id, role, team_ids`)
    if (!invitation) throw notFound()
    const { workspace_id: workspaceId, role } = invitation
    const workspace = await readWorkspace(tx, workspaceId)
    if (workspace.deletion_at !== null) throw new ApiError('WORKSPACE_PENDING_DELETION')
    if ((await addMember(unit, workspaceId, caller.id, role)) === 0) throw new ApiError('ALREADY_MEMBER')
    const teamIds = await joinTeams(unit, workspaceId, invitation.team_ids)
    await recordAudit(
      { ...unit, caller: { id: caller.id, workspaceId } },
      {
        action: 'member.joined',
        subjectId: caller.id,
        details: { role, ...(teamIds.length > 0 && { team_ids: teamIds }) },
      },
    )
    return { workspace, role }
  })

/** Joins the teams of the invitation that still exist. Returns their ids. */
async function joinTeams({ tx, now, caller }: UnitOfWork<Person>, workspaceId: string, ids: readonly string[]) {
  if (ids.length === 0) return []
  const joined = await tx.rows<{ id: string }>(sql`
    insert into team_members (workspace_id, team_id, user_id, joined_at)
    select t.workspace_id, t.id, ${caller.id}, ${now} from teams t
    where t.workspace_id = ${workspaceId} and t.id = any(${ids}) order by t.id for key share
    on conflict do nothing returning team_id as id`)
  return joined.map(({ id }) => id)
}

export const sweepInvitations = (db: Queryable, now: Date) =>
  db.run(sql`delete from invitations where expires_at <= ${now}`)

/** Deletes the invitations that an erased person got or issued. */
export const deleteInvitationsOf = (tx: Tx, userId: string, email: string) =>
  tx.run(sql`delete from invitations where email = ${email} or invited_by = ${userId}`)
