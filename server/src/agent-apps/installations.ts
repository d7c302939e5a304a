import type { AppScope, Coverage, Installation } from '@baton/protocol'
import { endAllOf, endUncovered } from '../agent-sessions/end.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { cancelPending, resumeEndpoints } from '../delivery/endpoints.ts'
import { recordForApp, systemActor } from '../events/for-app.ts'
import { stopReplay } from '../events/replay.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { markInstallRequestsRead } from '../inbox/answered.ts'
import { notifyManagers } from '../inbox/notify.ts'
import { releaseUncovered } from '../issues/delegation.ts'
import { endGrants } from '../login/grants.ts'
import { effectiveScopes } from '../login/tokens.ts'
import { createAgentUser, renameUser } from '../login/users.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { lockWorkspace, transactAs } from '../workspaces/members.ts'
import { usersIn } from '../workspaces/users.ts'
import { endListening } from './listeners.ts'

interface Stored extends Omit<Installation, 'scopes'> {
  approved: AppScope[]
  requested: AppScope[]
  coverage_changes: number
}

const columns = sql`
  i.id, i.workspace_id, i.app_id, i.app_user_id, i.all_teams, i.team_ids, i.installed_by, i.created_at, i.updated_at,
  i.scopes as approved, a.requested_scopes as requested, i.coverage_changes,
  jsonb_build_object('id', a.id, 'name', a.name) as app,
  jsonb_build_object('id', u.id, 'display_name', u.display_name) as app_user`
const installations = sql`
  installations i join agent_apps a on a.id = i.app_id join users u on u.id = i.app_user_id`
const active = (workspaceId: string) => sql`i.workspace_id = ${workspaceId} and i.revoked_at is null`

const toInstallation = ({ approved, requested, coverage_changes: _, ...installation }: Stored): Installation => ({
  ...installation,
  scopes: effectiveScopes(approved, requested),
})

export const listInstallations = ({ db, keys }: Context, { workspaceId }: Member, query: PageQuery) =>
  page<Installation>(
    keys,
    'installations',
    query,
    ({ id }) => [id],
    async (after, count) =>
      (
        await db.rows<Stored>(sql`
          select ${columns} from ${installations}
          where ${active(workspaceId)} ${after ? sql`and i.id < ${after[0]}` : none} order by i.id desc limit ${count}`)
      ).map(toInstallation),
  )

export const readInstallation = async (db: Queryable, { workspaceId }: Member, id: string) =>
  toInstallation(
    found(
      await db.row<Stored>(sql`select ${columns} from ${installations} where ${active(workspaceId)} and i.id = ${id}`),
    ),
  )

const lockInstallation = async (tx: Tx, condition: Sql) =>
  tx.row<Stored>(sql`select ${columns} from ${installations} where ${condition} for no key update of i`)

/** Validates a choice of coverage: all teams, or some teams of this workspace (installation.coverage-exactly-one). */
export async function chosenTeams(tx: Queryable, workspaceId: string, { all_teams, team_ids }: Coverage) {
  if (Boolean(all_teams) === (team_ids !== undefined)) {
    throw invalid({ [all_teams ? 'team_ids' : 'all_teams']: 'send either all_teams: true or team_ids' })
  }
  if (all_teams) return { allTeams: true, teamIds: [] }
  if (team_ids?.length === 0) throw invalid({ team_ids: 'must contain at least one team id' })
  const teams = await tx.rows<{ id: string }>(sql`
    select id from teams where workspace_id = ${workspaceId} and id = any(${team_ids}) order by id`)
  if (teams.length < (team_ids?.length ?? 0))
    throw invalid({ team_ids: 'contains an id that is not a team of this workspace' })
  return { allTeams: false, teamIds: teams.map(({ id }) => id) }
}

type Chosen = Awaited<ReturnType<typeof chosenTeams>>

interface Approval {
  app: { id: string; name: string; endpointId: string }
  scopes: AppScope[]
  teams: Chosen
  /** Refuses to replace an installation. */
  firstOnly?: boolean
}

/**
 * The first approval creates the installation and its app user. A later one keeps both, replaces coverage and scopes,
 * and ends older grants (installation.reapproval-keeps-identity, installation.reapproval-ends-old-grants). The caller
 * must be a manager of the app's workspace.
 */
export async function install(unit: UnitOfWork<Member>, { app, scopes, teams, firstOnly = false }: Approval) {
  const { tx, now, caller } = unit
  // The app may have been deleted since the consent request was created.
  found(await tx.row(sql`select 1 from agent_apps where id = ${app.id} and deleted_at is null for no key update`))
  const before = await lockInstallation(tx, sql`i.app_id = ${app.id} and i.revoked_at is null`)
  if (before && firstOnly) throw new ApiError('ALREADY_INSTALLED')
  const installation = before
    ? { id: before.id, appUserId: before.app_user_id }
    : { id: newId('ins'), appUserId: await createAppUser(unit, app.name) }
  if (before) {
    await tx.run(sql`update installations set scopes = ${scopes}, updated_at = ${now} where id = ${before.id}`)
    await endGrants(tx, now, sql`installation_id = ${before.id}`)
    await changeCoverage(unit, before, app.endpointId, teams)
  } else {
    await tx.run(sql`
      insert into installations
        (id, workspace_id, app_id, app_user_id, all_teams, team_ids, scopes, installed_by, created_at, updated_at)
      values (${installation.id}, ${caller.workspaceId}, ${app.id}, ${installation.appUserId}, ${teams.allTeams},
        ${teams.teamIds}, ${scopes}, ${caller.id}, ${now}, ${now})`)
  }
  await markInstallRequestsRead(unit, app.id)
  await recordAudit(unit, {
    action: 'installation.approved',
    subjectId: installation.id,
    details: { app_id: app.id, scopes, all_teams: teams.allTeams, team_ids: teams.teamIds },
  })
  return installation
}

/** The app's name, with the next free number if another user has it (installation.app-user-name-suffix). */
async function freeName(tx: Tx, workspaceId: string, name: string, exceptUserId: string | null = null) {
  const taken = new Set(
    (
      await tx.rows<{ name: string }>(sql`
        select u.display_name as name from (${usersIn(workspaceId)}) i join users u on u.id = i.id
        where u.id is distinct from ${exceptUserId} and starts_with(u.display_name, ${name})`)
    ).map((user) => user.name),
  )
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name} ${number}`
  return free
}

const createAppUser = async (unit: UnitOfWork<Member>, name: string) =>
  createAgentUser(unit, 'app', await freeName(unit.tx, unit.caller.workspaceId, name))

/** Gives the app user the new name of its app. */
export async function renameAppUser(
  tx: Tx,
  { id, name, workspaceId }: { id: string; name: string; workspaceId: string },
) {
  await lockWorkspace(tx, workspaceId)
  const installation = await lockInstallation(tx, sql`i.app_id = ${id} and i.revoked_at is null`)
  if (!installation) return
  const userId = installation.app_user_id
  await renameUser(tx, userId, await freeName(tx, workspaceId, name, userId))
}

/**
 * Stores the coverage and records PermissionChange for the app; false and no event if nothing changed
 * (installation.same-coverage-emits-nothing). In teams that it lost, its delegations are released and its sessions end.
 */
async function changeCoverage(
  unit: UnitOfWork<Member>,
  before: Stored,
  endpointId: string,
  { allTeams, teamIds }: Chosen,
) {
  const { tx, now } = unit
  if (before.all_teams === allTeams && JSON.stringify([...before.team_ids].sort()) === JSON.stringify(teamIds))
    return false
  const every = await tx.rows<{ id: string }>(
    sql`select id from teams where workspace_id = ${before.workspace_id} order by id`,
  )
  const all = every.map(({ id }) => id)
  const [old, fresh] = [before.all_teams ? all : before.team_ids, allTeams ? all : teamIds]
  const change = before.coverage_changes + 1
  await tx.run(sql`
    update installations set all_teams = ${allTeams}, team_ids = ${teamIds}, coverage_changes = ${change},
      updated_at = ${now}
    where id = ${before.id}`)
  await recordForApp(
    unit,
    { ...before, endpointId },
    {
      type: 'PermissionChange',
      action: 'teamAccessChanged',
      actor: systemActor,
      url: '',
      data: {
        event_id: `pc_${before.id}_${change}`,
        installation_id: before.id,
        all_teams: allTeams,
        team_ids: teamIds,
        added_team_ids: fresh.filter((id) => !old.includes(id)),
        removed_team_ids: old.filter((id) => !fresh.includes(id)),
      },
    },
  )
  const installation = { id: before.id, agentId: before.app_user_id }
  await releaseUncovered(unit, installation)
  await endUncovered(unit, installation)
  return true
}

export const updateCoverage = (ctx: Context, admitted: Member, id: string, coverage: Coverage): Promise<Installation> =>
  transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, caller } = unit
    const before = found(await lockInstallation(tx, sql`${active(caller.workspaceId)} and i.id = ${id}`))
    const teams = await chosenTeams(tx, caller.workspaceId, coverage)
    if (await changeCoverage(unit, before, await endpointOf(tx, before.app_id), teams)) {
      await recordAudit(unit, {
        action: 'installation.coverage_changed',
        subjectId: id,
        details: {
          all_teams: teams.allTeams,
          team_ids: teams.teamIds,
          from: { all_teams: before.all_teams, team_ids: before.team_ids },
        },
      })
    }
    return readInstallation(tx, caller, id)
  })

/**
 * Takes a team that is deleted away from the installations that chose it, and tells their apps. Those of all teams hear
 * nothing, as of a new team. Call `installationsOfTeam` first.
 */
export async function withdrawTeam(unit: UnitOfWork<Member>, installationIds: readonly string[], teamId: string) {
  const { tx } = unit
  for (const id of installationIds) {
    const before = found(await lockInstallation(tx, sql`i.id = ${id}`))
    const teamIds = before.team_ids.filter((one) => one !== teamId).sort()
    await changeCoverage(unit, before, await endpointOf(tx, before.app_id), { allTeams: false, teamIds })
    await recordAudit(unit, {
      action: 'installation.coverage_changed',
      subjectId: id,
      details: { all_teams: false, team_ids: teamIds, from: { all_teams: false, team_ids: before.team_ids } },
    })
  }
}

/** The installations that chose the team, locked in order; `only` if they chose no other. */
export const installationsOfTeam = (tx: Tx, workspaceId: string, teamId: string) =>
  tx.rows<{ id: string; only: boolean }>(sql`
    select i.id, cardinality(i.team_ids) = 1 as only from installations i
    where ${active(workspaceId)} and not i.all_teams and ${teamId} = any(i.team_ids)
    order by i.id for no key update of i`)

export const uninstall = (ctx: Context, admitted: Member, id: string) =>
  transactAs(ctx, admitted, 'manager', async (unit) => {
    const installation = found(await lockInstallation(unit.tx, sql`${active(admitted.workspaceId)} and i.id = ${id}`))
    await revoke(unit, installation)
  })

/** Notifies the managers that a member wants the app installed; once, until a manager has read it. */
export const requestInstall = (ctx: Context, admitted: Member, appId: string) =>
  transactAs(ctx, admitted, 'member', async (unit) => {
    const { tx, caller } = unit
    const { id: actorId, workspaceId } = caller
    const app = sql`select 1 from agent_apps where workspace_id = ${workspaceId} and id = ${appId} and deleted_at is null`
    found(await tx.row(sql`${app} for no key update`))
    const unread = await tx.row(sql`
      select 1 from inbox_entries
      where app_id = ${appId} and kind = 'install_request' and actor_id = ${actorId} and read_at is null`)
    if (!unread) await notifyManagers(unit, 'install_request', { appId })
  })

/** Call before the app is deleted. */
export async function uninstallApp(unit: UnitOfWork<Member>, appId: string) {
  const { tx, caller } = unit
  const installation = await lockInstallation(tx, sql`${active(caller.workspaceId)} and i.app_id = ${appId}`)
  if (installation) await revoke(unit, installation)
}

/**
 * Ends tokens, grants and sessions, releases delegations, and cancels pending deliveries and a replay. The app receives only
 * `revoked` (installation.uninstall-sends-revoked, installation.immediate-ends-send-no-prompted).
 */
async function revoke(unit: UnitOfWork<Member>, installation: Stored) {
  const endpointId = await endAccess(unit, installation)
  await releaseUncovered(unit, { id: installation.id, agentId: installation.app_user_id })
  await endWork(unit, installation, endpointId)
  await recordAudit(unit, {
    action: 'installation.uninstalled',
    subjectId: installation.id,
    details: { app_id: installation.app_id },
  })
}

/**
 * Uninstalls one app of a workspace that is about to be purged, and lets `revoked` be sent, which is all that its endpoint
 * still has. Issues keep their delegate: they are purged too. Returns false if none is left.
 */
export const uninstallBeforePurge = (ctx: Context, workspaceId: string): Promise<boolean> =>
  transact(ctx, { id: null, workspaceId }, async (unit) => {
    const installation = await lockInstallation(
      unit.tx,
      sql`${active(workspaceId)} and i.id = (
      select id from installations where workspace_id = ${workspaceId} and revoked_at is null order by id limit 1)`,
    )
    if (!installation) return false
    const endpointId = await endAccess(unit, installation)
    await endWork(unit, installation, endpointId)
    await resumeEndpoints(unit.tx, sql`id = ${endpointId}`)
    return true
  })

/** Returns the id of the app's endpoint, which is locked from now on. */
async function endAccess({ tx, now }: UnitOfWork, installation: Stored): Promise<string> {
  const endpointId = await endpointOf(tx, installation.app_id)
  await tx.run(sql`update installations set revoked_at = ${now}, updated_at = ${now} where id = ${installation.id}`)
  await endGrants(tx, now, sql`installation_id = ${installation.id}`)
  return endpointId
}

async function endWork(unit: UnitOfWork, installation: Stored, endpointId: string) {
  const { tx, now } = unit
  await endAllOf(unit, installation.app_user_id)
  // The app's own listener; a person continues to receive, first of all `revoked`.
  await endListening(tx, now, sql`user_id = ${installation.app_user_id}`)
  await cancelPending(tx, endpointId, now)
  await stopReplay(tx, endpointId, now)
  await recordForApp(
    unit,
    { ...installation, endpointId },
    {
      type: 'OAuthApp',
      action: 'revoked',
      actor: systemActor,
      url: '',
      data: { event_id: `rv_${installation.id}`, installation_id: installation.id, app_id: installation.app_id },
    },
  )
}

async function endpointOf(tx: Tx, appId: string): Promise<string> {
  const row = await tx.row<{ id: string }>(sql`
    select e.id from endpoints e where e.id = (select endpoint_id from agent_apps where id = ${appId}) for no key update`)
  return found(row).id
}
