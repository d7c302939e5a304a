import { accountLimits, type MemberToken, type NewPersonalToken, type PersonalToken } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { lockCaller } from '../login/methods.ts'
import { nameOfUser } from '../login/names.ts'
import { insertPersonalToken, personalTokenColumns, removePersonalToken } from '../login/personal-tokens.ts'
import { tellOwner } from '../login/security-mails.ts'
import { transact } from '../unit-of-work.ts'
import { transactAs } from '../workspaces/members.ts'

export const listPersonalTokens = (ctx: Context, caller: Member, query: PageQuery) =>
  page<PersonalToken>(
    ctx.keys,
    'personal tokens',
    query,
    ({ id }) => [id],
    (after, count) =>
      ctx.db.rows(sql`
        select ${personalTokenColumns} from personal_tokens t
        where t.workspace_id = ${caller.workspaceId} and t.user_id = ${caller.id}
          ${after ? sql`and t.id < ${after[0]}` : none}
        order by t.id desc limit ${count}`),
  )

export const listTokensOfWorkspace = (ctx: Context, caller: Member, query: PageQuery) =>
  page<MemberToken>(
    ctx.keys,
    'personal tokens of a workspace',
    query,
    ({ id }) => [id],
    (after, count) =>
      ctx.db.rows(sql`
        select ${personalTokenColumns}, ${nameOfUser} as user
        from personal_tokens t join users u on u.id = t.user_id
        where t.workspace_id = ${caller.workspaceId} ${after ? sql`and t.id < ${after[0]}` : none}
        order by t.id desc limit ${count}`),
  )

export function createPersonalToken(ctx: Context, caller: Member, body: NewPersonalToken) {
  const { name, scopes, team_ids: teamIds = null } = body
  return transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const expiresAt = expiryOf(body.expires_at, now)
    const { workspaceId, id: userId } = caller
    await lockCaller(tx, caller)
    // Locked, so that concurrent creates are counted, and the membership does not end meanwhile.
    const member = await tx.row(sql`
      select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${userId} for no key update`)
    if (!member) throw new ApiError('WORKSPACE_ACCESS_DENIED')
    if (teamIds) {
      const teams = await tx.rows(sql`
        select 1 from teams where workspace_id = ${workspaceId} and id = any(${teamIds})`)
      if (teams.length < teamIds.length) throw invalid({ team_ids: 'must contain only teams of this workspace' })
    }
    const created = await insertPersonalToken(tx, now, { workspaceId, userId, name, scopes, teamIds, expiresAt })
    if (!created) throw new ApiError('TOKEN_LIMIT_REACHED')
    const { personal_token } = created
    const details = { name, scopes, team_ids: teamIds, expires_at: personal_token.expires_at }
    await recordAudit(unit, { action: 'token.created', subjectId: personal_token.id, details })
    await tellOwner(unit, ctx.keys, userId, 'token_added', { workspaceId, name })
    return created
  })
}

function expiryOf(asked: string | undefined, now: Date): Date {
  const { personalTokenDays, personalTokenDefaultDays } = accountLimits
  if (asked === undefined) return plus(now, days(personalTokenDefaultDays))
  const expiresAt = new Date(asked)
  if (expiresAt < plus(now, days(1)) || expiresAt > plus(now, days(personalTokenDays))) {
    throw invalid({ expires_at: `must be 1 to ${personalTokenDays} days ahead` })
  }
  return expiresAt
}

/** A member revokes their own tokens. */
export const deletePersonalToken = (ctx: Context, caller: Member, id: string) =>
  transactAs(ctx, caller, 'member', async (unit) => {
    const { name } = found(await removePersonalToken(unit.tx, caller.workspaceId, id, caller.id))
    await recordAudit(unit, { action: 'token.revoked', subjectId: id, details: { name, user_id: caller.id } })
  })

/** A manager revokes any token of the workspace. */
export const deleteTokenOfWorkspace = (ctx: Context, caller: Member, id: string) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { name, userId } = found(await removePersonalToken(unit.tx, caller.workspaceId, id, null))
    await recordAudit(unit, { action: 'token.revoked', subjectId: id, details: { name, user_id: userId } })
  })
