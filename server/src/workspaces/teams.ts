import type { NewTeam, Team, TeamChange, TeamChoice, TeamMember } from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import { isDuplicate, type Queryable } from '../db/database.ts'
import { json, none, type Sql, sql } from '../db/sql.ts'
import { type Actor, isManager, type Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { teamCovered } from './coverage.ts'
import { transactAs } from './members.ts'

export const columns = sql`id, name, key, guidance, repositories, created_at, updated_at`

export const listTeams = (ctx: Context, caller: Actor, query: PageQuery) =>
  coveredTeams<Team>(ctx, caller, query, columns)

/** For pickers. Apps may call it without any scope (scope.no-scope-routes). */
export const selectTeams = (ctx: Context, caller: Actor, query: PageQuery) =>
  coveredTeams<TeamChoice>(ctx, caller, query, sql`id, key, name`)

const coveredTeams = <Row extends { id: string }>(ctx: Context, caller: Actor, query: PageQuery, shown: Sql) =>
  page<Row>(
    ctx.keys,
    'teams',
    query,
    (team) => [team.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${shown} from teams
      where ${ofCaller(caller)} ${after ? sql`and id < ${after[0]}` : none}
      order by id desc limit ${count}`),
  )

export const readTeam = async (db: Queryable, caller: Actor, id: string) =>
  found(await db.row<Team>(sql`select ${columns} from teams where ${ofCaller(caller)} and id = ${id}`))

export const ofCaller = (caller: Actor) => sql`workspace_id = ${caller.workspaceId} and ${teamCovered(caller, sql`id`)}`

export async function createTeam(ctx: Context, caller: Member, { name, key }: NewTeam) {
  try {
    return await transactAs(ctx, caller, 'manager', async (unit) => {
      const { tx, now } = unit
      const id = newId('team')
      const team = await tx.row<Team>(sql`
        insert into teams (id, workspace_id, name, key, last_issue_number, created_at, updated_at)
        values (${id}, ${caller.workspaceId}, ${name}, ${key}, ${lastNumberOf(caller.workspaceId, key)}, ${now}, ${now})
        returning ${columns}`)
      await joinTeam(unit, id, caller.id)
      await recordAudit(unit, { action: 'team.created', subjectId: id, details: { name, key } })
      return found(team)
    })
  } catch (error) {
    if (isDuplicate(error, 'teams_key')) throw invalid({ key: 'is taken by another team' })
    throw error
  }
}

/** Issues of a deleted team keep its codes after their move, so a new team with its key counts on from them. */
const lastNumberOf = (workspaceId: string, key: string) => sql`coalesce((
  select max(substr(code, ${key.length + 2})::integer) from issue_codes
  where workspace_id = ${workspaceId} and starts_with(code, ${`${key}-`})), 0)`

export const updateTeam = (ctx: Context, caller: Member, id: string, change: TeamChange) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now } = unit
    const before = found(
      await tx.row<Team>(sql`
        select ${columns} from teams where workspace_id = ${caller.workspaceId} and id = ${id} for no key update`),
    )
    const team = await tx.row<Team>(sql`
      update teams set
        name = coalesce(${change.name ?? null}, name),
        guidance = coalesce(${change.guidance ?? null}, guidance),
        repositories = ${change.repositories ? json(change.repositories) : sql`repositories`},
        updated_at = ${now}
      where workspace_id = ${caller.workspaceId} and id = ${id}
      returning ${columns}`)
    const updated = found(team)
    const changes = changesBetween(before, updated, ['name', 'guidance', 'repositories'])
    await recordAudit(unit, {
      action: 'team.updated',
      subjectId: id,
      details: { fields: Object.keys(change), changes },
    })
    return updated
  })

/** Deletes its cycles and memberships too. Its issues must have left. */
export const removeTeamRow = (tx: Queryable, id: string) => tx.run(sql`delete from teams where id = ${id}`)

/** People, and the app users of installations that cover the team (installation.app-user-joins-covered-teams). */
export async function listTeamMembers(ctx: Context, caller: Actor, teamId: string, query: PageQuery) {
  await readTeam(ctx.db, caller, teamId)
  return page<TeamMember>(
    ctx.keys,
    `members of ${teamId}`,
    query,
    (member) => [member.joined_at, member.id],
    (after, count) => {
      const onward = after ? sql`and (m.joined_at, m.user_id) < (${after[0]}, ${after[1]})` : none
      const newest = sql`order by m.joined_at desc, m.user_id desc limit ${count}`
      return ctx.db.rows(sql`
      select u.id, u.display_name, u.email, m.joined_at
      from (
        select m.user_id, m.joined_at from (
          (select m.user_id, m.joined_at from team_members m where m.team_id = ${teamId} ${onward} ${newest})
          union all
          select app_user_id, created_at from installations
          where workspace_id = ${caller.workspaceId} and revoked_at is null and (all_teams or ${teamId} = any(team_ids))
        ) m where true ${onward} ${newest}
      ) m, lateral (select id, display_name, email from users where id = m.user_id offset 0) u
      ${newest}`)
    },
  )
}

export const addTeamMember = (ctx: Context, caller: Member, teamId: string, userId: string) =>
  transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx } = unit
    await readTeam(tx, caller, teamId)
    found(
      await tx.row(
        sql`select 1 from memberships where workspace_id = ${caller.workspaceId} and user_id = ${userId} for key share`,
      ),
    )
    if (await joinTeam(unit, teamId, userId)) {
      await recordAudit(unit, { action: 'team.member_added', subjectId: teamId, details: { user_id: userId } })
    }
    return found(
      await tx.row<TeamMember>(sql`
        select u.id, u.display_name, u.email, m.joined_at
        from team_members m join users u on u.id = m.user_id
        where m.team_id = ${teamId} and m.user_id = ${userId}`),
    )
  })

export const removeTeamMember = (ctx: Context, admitted: Member, teamId: string, userId: string) =>
  transactAs(ctx, admitted, 'member', async (unit) => {
    const { tx, caller } = unit
    await readTeam(tx, caller, teamId)
    if (userId !== caller.id && !isManager(caller)) throw new ApiError('FORBIDDEN')
    const removed = await tx.row(sql`
      delete from team_members where team_id = ${teamId} and user_id = ${userId} returning 1`)
    found(removed)
    await recordAudit(unit, { action: 'team.member_removed', subjectId: teamId, details: { user_id: userId } })
  })

const joinTeam = ({ tx, now, caller }: UnitOfWork<Member>, teamId: string, userId: string) =>
  tx.run(sql`
    insert into team_members (workspace_id, team_id, user_id, joined_at)
    values (${caller.workspaceId}, ${teamId}, ${userId}, ${now})
    on conflict do nothing`)
