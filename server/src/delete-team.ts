import { api, type TeamUsage } from '@baton/protocol'
import { installationsOfTeam, withdrawTeam } from './agent-apps/installations.ts'
import { recordAudit } from './audit/record.ts'
import type { Context } from './context.ts'
import type { Tx } from './db/database.ts'
import { type Sql, sql } from './db/sql.ts'
import { endpointsOfTeam, removeTeamFromEndpoints } from './delivery/endpoints.ts'
import { removeTeamFromConnections } from './git/connections.ts'
import type { Member } from './http/caller.ts'
import { ApiError, found, invalid } from './http/errors.ts'
import { route } from './http/route.ts'
import { changeIssues, removeIssues } from './issues/many.ts'
import { transact, type UnitOfWork } from './unit-of-work.ts'
import { removeViewsOfTeam, viewsOfTeam } from './views/views.ts'
import { confirmRole, lockWorkspace } from './workspaces/members.ts'
import { readTeam, removeTeamRow } from './workspaces/teams.ts'

/** What becomes of the team's issues. */
interface Removal {
  move_issues_to?: string
  delete_issues?: 'true'
}

/**
 * Deletes a team with its cycles, memberships and the saved views that show only this team. Its issues move to another
 * team or are deleted, each with its own event; installations and webhooks lose the team.
 */
const deleteTeam = (ctx: Context, admitted: Member, id: string, removal: Removal) =>
  transact(ctx, admitted, async (admission) => {
    // Deletions wait for each other, so that no two move issues into each other's team.
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const unit = await confirmRole(admission, 'manager')
    const { tx, now, caller } = unit
    const team = await checkTeams(tx, caller.workspaceId, id, removal)
    // Installations before issues: the order in which every change of an issue locks them.
    const installations = await installationsOfTeam(tx, caller.workspaceId, id)
    const webhooks = await endpointsOfTeam(tx, caller.workspaceId, id)
    refuseInUse(installations, webhooks)
    await removeTeamFromConnections(tx, caller.workspaceId, id)
    let count = await emptyTeam(unit, id, removal)
    // From now on no issue can be added. Those that were meanwhile follow.
    await tx.rows(sql`select 1 from teams where id = ${id} for update`)
    count += await emptyTeam(unit, id, removal)
    await withdrawTeam(unit, idsOf(installations), id)
    await removeTeamFromEndpoints(tx, idsOf(webhooks), id, now)
    await removeViewsOfTeam(tx, caller.workspaceId, team.key)
    await removeTeamRow(tx, id)
    const issues = removal.move_issues_to ? { moved_to: removal.move_issues_to } : { deleted: true }
    const details = { ...team, issues: count, ...(count > 0 && issues) }
    await recordAudit(unit, { action: 'team.deleted', subjectId: id, details })
  })

async function checkTeams(tx: Tx, workspaceId: string, id: string, { move_issues_to, delete_issues }: Removal) {
  const teams = await tx.rows<{ id: string; name: string; key: string }>(sql`
    select id, name, key from teams where workspace_id = ${workspaceId} and id = any(${[id, move_issues_to ?? id]})`)
  const { name, key } = found(teams.find((team) => team.id === id))
  if (move_issues_to && delete_issues) throw invalid({ delete_issues: 'cannot be sent with move_issues_to' })
  if (move_issues_to === id) throw invalid({ move_issues_to: 'must be another team' })
  if (move_issues_to && !teams.some((team) => team.id === move_issues_to)) {
    throw invalid({ move_issues_to: 'is not a team of this workspace' })
  }
  return { name, key }
}

/** An installation or webhook that chose the team; `only` if it chose no other. */
interface Dependent {
  id: string
  only: boolean
}

const idsOf = (dependents: readonly Dependent[]) => dependents.map(({ id }) => id)

function refuseInUse(installations: readonly Dependent[], webhooks: readonly Dependent[]) {
  const onlyOf = (dependents: readonly Dependent[]) => idsOf(dependents.filter(({ only }) => only))
  const details = { installation_ids: onlyOf(installations), webhook_ids: onlyOf(webhooks) }
  if (details.installation_ids.length + details.webhook_ids.length > 0) throw new ApiError('TEAM_IN_USE', details)
}

/** Returns how many issues it moved or deleted. */
async function emptyTeam(unit: UnitOfWork<Member>, id: string, { move_issues_to, delete_issues }: Removal) {
  const issues = await unit.tx.rows<{ id: string }>(sql`select id from issues where team_id = ${id}`)
  const ids = issues.map((issue) => issue.id)
  if (ids.length === 0) return 0
  if (move_issues_to) {
    await changeIssues(unit, ids, ({ team_id }) => (team_id === id ? { team_id: move_issues_to } : null))
  } else if (delete_issues) await removeIssues(unit, ids)
  else throw invalid({ move_issues_to: 'name a team for its issues, or send delete_issues=true' })
  return ids.length
}

async function readUsage({ db }: Context, caller: Member, id: string): Promise<TeamUsage> {
  const { key } = await readTeam(db, caller, id)
  const chosen = (alias: Sql) => sql`${alias}.workspace_id = ${caller.workspaceId} and not ${alias}.all_teams
    and ${id} = any(${alias}.team_ids)`
  const listed = (alias: Sql, name: Sql) => sql`coalesce(jsonb_agg(jsonb_build_object(
    'id', ${alias}.id, 'name', ${name}, 'only_team', cardinality(${alias}.team_ids) = 1) order by ${alias}.id), '[]')`
  return found(
    await db.row<TeamUsage>(sql`
      select (select count(*)::int from issues where team_id = ${id}) as issues,
        (select count(*)::int from cycles where team_id = ${id}) as cycles,
        (select count(*)::int from views where ${viewsOfTeam(caller.workspaceId, key)}) as views,
        (select ${listed(sql`i`, sql`a.name`)} from installations i join agent_apps a on a.id = i.app_id
          where ${chosen(sql`i`)} and i.revoked_at is null) as installations,
        (select ${listed(sql`e`, sql`e.label`)} from endpoints e
          where ${chosen(sql`e`)} and e.deleted_at is null) as webhooks`),
  )
}

export const deleteTeamRoutes = [
  route(api.getTeamUsage, ({ ctx, caller, params }) => readUsage(ctx, caller, params.team_id)),
  route(api.deleteTeam, ({ ctx, caller, params, query }) => deleteTeam(ctx, caller, params.team_id, query)),
]
