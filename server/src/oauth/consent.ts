import {
  type AppScope,
  appEventTypes,
  type Compat,
  type Consent,
  type ConsentRequest,
  limits,
  type ResourceType,
} from '@baton/protocol'
import { iconUrl } from '../addresses.ts'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { createGrant } from '../login/grants.ts'
import { effectiveScopes } from '../login/tokens.ts'
import { transact, type UnitOfWork, withoutTransaction } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace } from '../workspaces/members.ts'
import { isRegistered, returnAddress, speaks } from './authorize.ts'
import { type AppClient, findClient, type OAuthClient } from './clients.ts'
import { installClient, scopesGranted } from './install.ts'

interface Request {
  id: string
  client_id: string
  redirect_uri: string
  scopes: AppScope[]
  state: string | null
  code_challenge: string
  compat: Compat | null
}

/** An undecided request of the caller (oauth.request-bound-to-person, oauth.consent-request-expires). */
async function findRequest({ tx, now, caller }: UnitOfWork<Person, Queryable>, id: string, lock = none) {
  const request = found(
    await tx.row<Request>(sql`
      select id, client_id, redirect_uri, scopes, state, code_challenge, compat from oauth_requests
      where id = ${id} and user_id = ${caller.id} and decided_at is null and expires_at > ${now} ${lock}`),
  )
  const client = found(await findClient(tx, request.client_id))
  // The manifest may have changed since: its current redirect URIs and scopes apply.
  if (!speaks(client, request.compat) || !isRegistered(client, request.redirect_uri, request.compat)) throw notFound()
  const scopes = client.app ? request.scopes.filter((scope) => client.app?.scopes.includes(scope)) : request.scopes
  if (request.scopes.length > 0 && scopes.length === 0) throw notFound()
  return { request: { ...request, scopes }, client }
}

/** The data of the consent screen (oauth.consent-request-shape). */
export async function readRequest(ctx: Context, person: Person, id: string): Promise<ConsentRequest> {
  const { request, client } = await findRequest(withoutTransaction(ctx, person), id)
  const { app } = client
  const workspaces = await ctx.db.rows<{ id: string; name: string; role: string }>(sql`
    select w.id, w.name, m.role from memberships m join workspaces w on w.id = m.workspace_id
    where m.user_id = ${person.id} ${app ? sql`and w.id = ${app.workspaceId}` : none} order by w.id`)
  // People outside the workspace learn nothing about it.
  const ownApp = workspaces.length > 0 ? app : null
  const teams = ownApp
    ? await ctx.db.rows<{ id: string; key: string; name: string }>(
        sql`select id, key, name from teams where workspace_id = ${ownApp.workspaceId} order by key`,
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
    scopes: scopesGranted(request.scopes),
    teams,
    workspaces: workspaces.map(({ id, name }) => ({ id, name })),
    redirect_host: new URL(request.redirect_uri).host,
    compat: app?.compat ?? null,
    webhook: ownApp && (await webhookOf(ctx.db, ownApp.endpointId)),
    installed: ownApp && (await currentInstallation(ctx.db, ownApp)),
    can_approve: app ? workspaces.some(({ role }) => role !== 'member') : workspaces.length > 0,
  }
}

/** Where the app will receive events, and which; null while its webhook has no URL or is disabled. */
async function webhookOf(db: Queryable, endpointId: string): Promise<ConsentRequest['webhook']> {
  const endpoint = await db.row<{ url: string; resource_types: ResourceType[] }>(sql`
    select url, resource_types from endpoints where id = ${endpointId} and state = 'enabled' and url <> ''`)
  if (!endpoint) return null
  return { host: new URL(endpoint.url).host, resource_types: endpoint.resource_types, always: [...appEventTypes] }
}

async function currentInstallation(
  db: Queryable,
  { id, scopes }: NonNullable<OAuthClient['app']>,
): Promise<ConsentRequest['installed']> {
  const row = await db.row<{ all_teams: boolean; team_ids: string[]; approved: AppScope[] }>(sql`
    select all_teams, team_ids, scopes as approved from installations where app_id = ${id} and revoked_at is null`)
  if (!row) return null
  return { all_teams: row.all_teams, team_ids: row.team_ids, scopes: effectiveScopes(row.approved, scopes) }
}

export const approve = (ctx: Context, person: Person, id: string, consent: Consent) =>
  transact(ctx, person, async (unit) => {
    const { request, client } = await findRequest(unit, id, sql`for update`)
    const grantId = client.app
      ? await approveApp(unit, { ...client, app: client.app }, request, consent)
      : await approveProgram(unit, client, request, consent)
    await markDecided(unit, request)
    const code = await createCode(unit, request, grantId)
    return { redirect_to: returnAddress(ctx.config.rootUrl, request.redirect_uri, request.state, { code }) }
  })

export const deny = (ctx: Context, person: Person, id: string) =>
  transact(ctx, person, async (unit) => {
    const { request } = await findRequest(unit, id, sql`for update`)
    await markDecided(unit, request)
    const refusal = { error: 'access_denied', error_description: 'The request was denied.' }
    return { redirect_to: returnAddress(ctx.config.rootUrl, request.redirect_uri, request.state, refusal) }
  })

const markDecided = ({ tx, now }: UnitOfWork, { id }: Request) =>
  tx.run(sql`update oauth_requests set decided_at = ${now} where id = ${id}`)

/** Only for managers of the app's workspace. */
async function approveApp(
  unit: UnitOfWork<Person>,
  client: AppClient,
  request: Request,
  consent: Consent,
): Promise<string> {
  await lockWorkspace(unit.tx, client.app.workspaceId)
  const asManager = await confirmManager(unit, client.app.workspaceId)
  if (consent.workspace_id !== undefined)
    throw invalid({ workspace_id: 'must not be sent for an agent app; choose teams' })
  return installClient(asManager, client, { scopes: request.scopes, coverage: consent, compat: request.compat })
}

/** The same refusal for outsiders as for plain members, so that outsiders learn nothing about the workspace. */
function confirmManager(unit: UnitOfWork<Person>, workspaceId: string) {
  // The caller's own mark is about the workspace in the header, and this route has none.
  const member: Member = { ...unit.caller, workspaceId, role: 'member', pendingDeletion: false }
  return confirmRole({ ...unit, caller: member }, 'manager').catch((error) => {
    const isHidden = error instanceof ApiError && error.code !== 'WORKSPACE_PENDING_DELETION'
    throw isHidden ? new ApiError('FORBIDDEN') : error
  })
}

/** Any person may approve a program for one of their workspaces (oauth.public-client-workspace). */
async function approveProgram(
  unit: UnitOfWork<Person>,
  client: OAuthClient,
  request: Request,
  consent: Consent,
): Promise<string> {
  const { tx, now, caller } = unit
  const { workspace_id: workspaceId, all_teams, team_ids } = consent
  if (all_teams !== undefined || team_ids !== undefined)
    throw invalid({ workspace_id: 'choose a workspace, not teams' })
  if (!workspaceId) throw invalid({ workspace_id: 'is required' })
  const member = await tx.row<{ pending: boolean }>(sql`
    select w.deletion_at is not null as pending from memberships m join workspaces w on w.id = m.workspace_id
    where m.workspace_id = ${workspaceId} and m.user_id = ${caller.id} for key share of m`)
  if (member?.pending) throw new ApiError('WORKSPACE_PENDING_DELETION')
  if (!member) throw invalid({ workspace_id: 'must be a workspace that you are a member of' })
  await tx.run(sql`update oauth_clients set used_at = ${now} where id = ${client.id}`)
  return createGrant(unit, {
    workspaceId,
    clientId: client.id,
    installationId: null,
    userId: caller.id,
    scopes: scopesGranted(request.scopes),
  })
}

async function createCode({ tx, now }: UnitOfWork, request: Request, grantId: string): Promise<string> {
  const code = newSecret('svc_ac_')
  await tx.run(sql`
    insert into oauth_codes (hash, grant_id, client_id, redirect_uri, code_challenge, expires_at)
    values (${sha256(code)}, ${grantId}, ${request.client_id}, ${request.redirect_uri}, ${request.code_challenge},
      ${plus(now, limits.codeSeconds * 1000)})`)
  return code
}
