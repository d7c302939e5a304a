import {
  type AppScope,
  appEventTypes,
  type Consent,
  type ConsentRequest,
  limits,
  type ResourceType,
} from '@baton/protocol'
import { iconUrl } from '../addresses.ts'
import { chosenTeams, install } from '../agent-apps/installations.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { effectiveScopes } from '../login/tokens.ts'
import { transact, type UnitOfWork, withoutTransaction } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace } from '../workspaces/members.ts'
import { isRegistered, returnAddress } from './authorize.ts'
import { findClient, type OAuthClient } from './clients.ts'

interface Request {
  id: string
  client_id: string
  redirect_uri: string
  scopes: AppScope[]
  state: string | null
  code_challenge: string
}

/** Only for the person who began it, once, and for ten minutes. */
async function findRequest({ tx, now, caller }: UnitOfWork<Person, Queryable>, id: string, lock = none) {
  const request = found(
    await tx.row<Request>(sql`
      select id, client_id, redirect_uri, scopes, state, code_challenge from oauth_requests
      where id = ${id} and user_id = ${caller.id} and decided_at is null and expires_at > ${now} ${lock}`),
  )
  const client = found(await findClient(tx, request.client_id))
  // The manifest may have changed since: where it no longer leads, and what it no longer asks for, is not consented to.
  if (!isRegistered(client, request.redirect_uri)) throw notFound()
  const scopes = client.app ? request.scopes.filter((scope) => client.app?.scopes.includes(scope)) : request.scopes
  if (request.scopes.length > 0 && scopes.length === 0) throw notFound()
  return { request: { ...request, scopes }, client }
}

/** 4.2.3: what the consent screen shows. */
export async function readRequest(ctx: Context, person: Person, id: string): Promise<ConsentRequest> {
  const { request, client } = await findRequest(withoutTransaction(ctx, person), id)
  const { app } = client
  const workspaces = await ctx.db.rows<{ id: string; name: string; role: string }>(sql`
    select w.id, w.name, m.role from memberships m join workspaces w on w.id = m.workspace_id
    where m.user_id = ${person.id} ${app ? sql`and w.id = ${app.workspaceId}` : none} order by w.id`)
  // Nothing is said about a workspace to people who are not in it.
  const theirs = workspaces.length > 0 ? app : null
  const teams = theirs
    ? await ctx.db.rows<{ id: string; key: string; name: string }>(
        sql`select id, key, name from teams where workspace_id = ${theirs.workspaceId} order by key`,
      )
    : []
  return {
    id,
    app: app && {
      id: app.id,
      name: client.name,
      description: app.description,
      icon: iconUrl(ctx.config, app.id),
    },
    client_name: client.name,
    developer: app?.developer ?? null,
    scopes: granted(request.scopes),
    teams,
    workspaces: workspaces.map(({ id, name }) => ({ id, name })),
    redirect_host: new URL(request.redirect_uri).host,
    webhook: theirs && (await webhookOf(ctx.db, theirs.endpointId)),
    installed: theirs && (await installedAs(ctx.db, theirs)),
    can_approve: app ? workspaces.some(({ role }) => role !== 'member') : workspaces.length > 0,
  }
}

/** What it will be told of as things stand: nothing while its webhook has no address or is not enabled. */
async function webhookOf(db: Queryable, endpointId: string): Promise<ConsentRequest['webhook']> {
  const endpoint = await db.row<{ url: string; resource_types: ResourceType[] }>(sql`
    select url, resource_types from endpoints where id = ${endpointId} and state = 'enabled' and url <> ''`)
  if (!endpoint) return null
  return { host: new URL(endpoint.url).host, resource_types: endpoint.resource_types, always: [...appEventTypes] }
}

async function installedAs(
  db: Queryable,
  { id, scopes }: NonNullable<OAuthClient['app']>,
): Promise<ConsentRequest['installed']> {
  const row = await db.row<{ all_teams: boolean; team_ids: string[]; approved: AppScope[] }>(sql`
    select all_teams, team_ids, scopes as approved from installations where app_id = ${id} and revoked_at is null`)
  if (!row) return null
  return { all_teams: row.all_teams, team_ids: row.team_ids, scopes: effectiveScopes(row.approved, scopes) }
}

/** A grant with no scope is `read` (5.6). */
const granted = (scopes: AppScope[]): AppScope[] => (scopes.length > 0 ? scopes : ['read'])

export const approve = (ctx: Context, person: Person, id: string, consent: Consent) =>
  transact(ctx, person, async (unit) => {
    const { request, client } = await findRequest(unit, id, sql`for update`)
    const grant = client.app
      ? await approveApp(unit, { ...client, app: client.app }, request, consent)
      : await approveProgram(unit, client, consent)
    await decide(unit, request)
    const code = await createGrant(unit, request, grant)
    return { redirect_to: returnAddress(ctx.config.rootUrl, request.redirect_uri, request.state, { code }) }
  })

export const deny = (ctx: Context, person: Person, id: string) =>
  transact(ctx, person, async (unit) => {
    const { request } = await findRequest(unit, id, sql`for update`)
    await decide(unit, request)
    const refusal = { error: 'access_denied', error_description: 'The request was denied.' }
    return { redirect_to: returnAddress(ctx.config.rootUrl, request.redirect_uri, request.state, refusal) }
  })

const decide = ({ tx, now }: UnitOfWork, { id }: Request) =>
  tx.run(sql`update oauth_requests set decided_at = ${now} where id = ${id}`)

interface Granted {
  workspaceId: string
  installationId: string | null
  userId: string | null
}

/** 4.2.3-4: only managers of the app's workspace; the installation acts as the app, not as them. */
async function approveApp(
  unit: UnitOfWork<Person>,
  { name, app }: OAuthClient & { app: NonNullable<OAuthClient['app']> },
  request: Request,
  consent: Consent,
): Promise<Granted> {
  const { workspaceId } = app
  await lockWorkspace(unit.tx, workspaceId)
  const asManager = await confirmManager(unit, workspaceId)
  if (consent.workspace_id !== undefined) throw invalid({ workspace_id: 'is for programs of your own; choose teams' })
  const teams = await chosenTeams(unit.tx, workspaceId, consent)
  const { id } = await install(asManager, { app: { ...app, name }, scopes: request.scopes, teams })
  return { workspaceId, installationId: id, userId: null }
}

/** Nothing is said about a workspace to people who are not in it. */
function confirmManager(unit: UnitOfWork<Person>, workspaceId: string) {
  const member: Member = { ...unit.caller, workspaceId, role: 'member' }
  return confirmRole({ ...unit, caller: member }, 'manager').catch((error) => {
    throw error instanceof ApiError ? new ApiError('FORBIDDEN') : error
  })
}

/** decisions 9: any member for themselves, in a workspace of theirs. */
async function approveProgram(
  { tx, now, caller }: UnitOfWork<Person>,
  client: OAuthClient,
  consent: Consent,
): Promise<Granted> {
  const { workspace_id: workspaceId, all_teams, team_ids } = consent
  if (all_teams !== undefined || team_ids !== undefined)
    throw invalid({ workspace_id: 'choose a workspace, not teams' })
  if (!workspaceId) throw invalid({ workspace_id: 'is required' })
  const member = await tx.row(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${caller.id} for key share`)
  if (!member) throw invalid({ workspace_id: 'is not a workspace of yours' })
  await tx.run(sql`update oauth_clients set used_at = ${now} where id = ${client.id}`)
  return { workspaceId, installationId: null, userId: caller.id }
}

async function createGrant({ tx, now }: UnitOfWork, request: Request, granting: Granted): Promise<string> {
  const grantId = newId('grt')
  const code = newSecret('svc_ac_')
  await tx.run(sql`
    insert into grants (id, workspace_id, client_id, installation_id, user_id, scopes, created_at, expires_at)
    values (${grantId}, ${granting.workspaceId}, ${request.client_id}, ${granting.installationId}, ${granting.userId},
      ${granted(request.scopes)}, ${now}, ${plus(now, days(limits.grantDays))})`)
  await tx.run(sql`
    insert into oauth_codes (hash, grant_id, client_id, redirect_uri, code_challenge, expires_at)
    values (${sha256(code)}, ${grantId}, ${request.client_id}, ${request.redirect_uri}, ${request.code_challenge},
      ${plus(now, limits.codeSeconds * 1000)})`)
  return code
}
