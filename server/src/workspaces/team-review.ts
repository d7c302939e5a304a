import type { TeamReview } from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import { json, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found } from '../http/errors.ts'
import { transactAs } from './members.ts'
import { ofCaller } from './teams.ts'

export const readTeamReview = async ({ db }: Context, caller: Member, id: string): Promise<TeamReview> =>
  found(await db.row<{ review: TeamReview }>(sql`select review from teams where ${ofCaller(caller)} and id = ${id}`))
    .review

export const setTeamReview = (ctx: Context, caller: Member, id: string, review: TeamReview): Promise<TeamReview> =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now } = unit
    const before = found(
      await tx.row<{ review: TeamReview }>(sql`
        select review from teams where workspace_id = ${caller.workspaceId} and id = ${id} for no key update`),
    )
    const changes = changesBetween(before, { review }, ['review'])
    if (Object.keys(changes).length === 0) return review
    await tx.run(sql`update teams set review = ${json(review)}, updated_at = ${now} where id = ${id}`)
    await recordAudit(unit, { action: 'team.updated', subjectId: id, details: { fields: ['review'], changes } })
    return review
  })
