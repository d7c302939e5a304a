import type { AgentApp, Manifest, NewReplay, Rotation } from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import { laterThan } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { type Keyring, newSecret, sha256 } from '../crypto.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import {
  clearResourceTypes,
  type Endpoint,
  finishRotation,
  insertEndpoint,
  newWebhookSecret,
  rotateSecret,
  setState,
  updateEndpoint,
} from '../delivery/endpoints.ts'
import { readReplay, startReplay, stopReplay } from '../events/replay.ts'
import { isManager, type Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { endGrantsAndTokens } from '../login/grants.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { transactAs } from '../workspaces/members.ts'
import { renameAppUser, uninstallApp } from './installations.ts'
import { endListening, listenerOf } from './listeners.ts'
import { checkManifest } from './manifest.ts'

/** `endpointId` is internal and never sent. */
export type StoredApp = Omit<AgentApp, 'listener'> & { endpointId: string }

const columns = sql`
  a.id, a.client_id, a.workspace_id as developer_workspace_id, a.owner_user_id, a.name, a.description, a.icon_url,
  jsonb_build_object('name', a.developer_name, 'url', a.developer_url) as developer, 'private' as distribution,
  a.install_page_url, a.compat,
  a.redirect_uris, a.requested_scopes,
  jsonb_build_object('enabled', e.state <> 'disabled', 'url', e.url, 'resource_types', e.resource_types,
    'state', e.state) as webhook,
  e.protocol, case when x.app_id is not null then jsonb_build_object('card_url', x.card_url, 'card', x.card,
    'interface', x.interface - 'tenant', 'credential_type', x.credential_type, 'fetched_at',
    to_char(x.fetched_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'new_origin', x.new_origin) end as a2a,
  a.created_at, a.updated_at`

const apps = sql`agent_apps a join endpoints e on e.id = a.endpoint_id left join a2a_apps x on x.app_id = a.id`
const ofWorkspace = (workspaceId: string) => sql`a.workspace_id = ${workspaceId} and a.deleted_at is null`

export const listApps = ({ db, keys, clock }: Context, { workspaceId }: Member, query: PageQuery) =>
  page<AgentApp>(
    keys,
    'agent apps',
    query,
    (app) => [app.id],
    (after, count) =>
      db.rows(sql`
      select ${columns}, ${listenerOf(clock.now())} from ${apps} where ${ofWorkspace(workspaceId)} ${after ? sql`and a.id < ${after[0]}` : none}
      order by a.id desc limit ${count}`),
  )

export const readApp = async (db: Queryable, now: Date, { workspaceId }: Member, id: string) =>
  found(
    await db.row<AgentApp>(sql`
      select ${columns}, ${listenerOf(now)} from ${apps} where ${ofWorkspace(workspaceId)} and a.id = ${id}`),
  )

/** For callers that may use the app, whatever their role. */
export const findApp = async (
  db: Queryable,
  { workspaceId }: { workspaceId: string },
  id: string,
  lock: Sql = none,
): Promise<StoredApp> =>
  found(
    await db.row<StoredApp>(sql`
      select ${columns}, a.endpoint_id as "endpointId" from ${apps}
      where ${ofWorkspace(workspaceId)} and a.id = ${id} ${lock}`),
  )

/** Finds an app whose secrets, webhook and deliveries the caller may manage (app.registrant-manages-secrets). */
export async function findOwnApp(db: Queryable, caller: Member, id: string, lock: Sql = none): Promise<StoredApp> {
  const app = await findApp(db, caller, id, lock)
  if (!isManager(caller) && app.owner_user_id !== caller.id) throw new ApiError('FORBIDDEN')
  return app
}

/** a2a.no-oauth: an A2A app has no secrets, manifest or listener. */
export function refuseA2a({ protocol }: Pick<AgentApp, 'protocol'>) {
  if (protocol === 'a2a') throw new ApiError('A2A_APP')
}

export async function registerApp(ctx: Context, admitted: Member, body: unknown) {
  const { config, keys } = ctx
  checkManifest(config, body)
  const secrets = { client: newSecret('svc_sk_'), webhook: newWebhookSecret() }
  const app = await transactAs(ctx, admitted, 'member', async (unit) => {
    const { id } = await insertApp(unit, keys, body, secrets)
    return readApp(unit.tx, unit.now, unit.caller, id)
  })
  return {
    app,
    client_id: app.client_id,
    client_secret: secrets.client,
    webhook_secret: secrets.webhook,
    install_url: installUrl(config, app),
  }
}

/** Inserts an app and its endpoint. An A2A app has secrets too, which are never given out. */
export async function insertApp(
  unit: UnitOfWork<Member>,
  keys: Keyring,
  manifest: Manifest,
  secrets = { client: newSecret('svc_sk_'), webhook: newWebhookSecret() },
  protocol: AgentApp['protocol'] = 'webhook',
): Promise<{ id: string; name: string; endpointId: string }> {
  const { tx, now, caller } = unit
  const { name, description, icon_url, developer, install_page_url, compat, oauth } = manifest
  const id = newId('app')
  const endpoint = endpointOf(manifest, newId('whk'), caller.id, now.toISOString())
  const sealed = keys.seal(secrets.webhook, endpoint.id)
  await insertEndpoint(tx, caller.workspaceId, sealed, endpoint, { appId: id, protocol })
  await tx.run(sql`
    insert into agent_apps (id, workspace_id, client_id, client_secret_hash, owner_user_id, endpoint_id, name,
      description, icon_url, developer_name, developer_url, install_page_url, compat, redirect_uris, requested_scopes,
      created_at, updated_at)
    values (${id}, ${caller.workspaceId}, ${newId('cli')}, ${sha256(secrets.client)}, ${caller.id}, ${endpoint.id},
      ${name}, ${description ?? null}, ${icon_url ?? null}, ${developer.name}, ${developer.url ?? null},
      ${install_page_url ?? null}, ${compat ?? null}, ${oauth.redirect_uris}, ${oauth.scopes}, ${now}, ${now})`)
  await recordAudit(unit, { action: 'app.registered', subjectId: id, details: { name, scopes: oauth.scopes } })
  return { id, name, endpointId: endpoint.id }
}

/** app.install-url-shape: the authorize URL, with placeholders for the parameters that the app chooses each time. */
function installUrl({ baseUrl }: Config, { client_id, requested_scopes }: AgentApp) {
  const known = new URLSearchParams({
    actor: 'app',
    client_id,
    response_type: 'code',
    scope: requested_scopes.join(' '),
    code_challenge_method: 'S256',
  })
  return `${baseUrl}/oauth/authorize?${known}&redirect_uri={redirect_uri}&state={state}&code_challenge={code_challenge}`
}

export async function replaceApp(ctx: Context, admitted: Member, id: string, body: unknown): Promise<AgentApp> {
  checkManifest(ctx.config, body)
  return transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, now, caller } = unit
    const before = await findOwnApp(tx, caller, id, sql`for no key update of a, e`)
    refuseA2a(before)
    const updatedAt = laterThan(before.updated_at, now)
    await tx.run(sql`
      update agent_apps set name = ${body.name}, description = ${body.description ?? null},
        icon_url = ${body.icon_url ?? null}, developer_name = ${body.developer.name},
        developer_url = ${body.developer.url ?? null}, install_page_url = ${body.install_page_url ?? null},
        compat = ${body.compat ?? null}, redirect_uris = ${body.oauth.redirect_uris},
        requested_scopes = ${body.oauth.scopes}, updated_at = ${updatedAt}
      where id = ${id}`)
    if (body.name !== before.name) await renameAppUser(tx, { id, name: body.name, workspaceId: caller.workspaceId })
    if (before.compat && !body.compat) await endGrantsAndTokens(unit, grantsOf(id, sql`compat = ${before.compat}`))
    await replaceEndpoint(unit, before, endpointOf(body, before.endpointId, null, updatedAt))
    const after = await readApp(tx, now, caller, id)
    const changes = changesBetween(recorded(before), recorded(after), recordedFields)
    await recordAudit(unit, { action: 'app.updated', subjectId: id, details: { scopes: body.oauth.scopes, changes } })
    return after
  })
}

/** Condition on the grants of an app. */
const grantsOf = (appId: string, which: Sql) =>
  sql`${which} and installation_id in (select id from installations where app_id = ${appId})`

const recordedFields = [
  'name',
  'description',
  'icon_url',
  'developer',
  'install_page_url',
  'compat',
  'redirect_uris',
  'scopes',
  'webhook_url',
  'webhook_enabled',
  'resource_types',
] as const

/** The fields of an app that the audit log compares. None is secret. */
const recorded = ({ requested_scopes, webhook, ...app }: Omit<AgentApp, 'listener'>) => ({
  ...app,
  scopes: requested_scopes,
  webhook_url: webhook.url,
  webhook_enabled: webhook.enabled,
  resource_types: webhook.resource_types,
})

async function replaceEndpoint({ tx, now }: UnitOfWork, before: StoredApp, endpoint: Endpoint) {
  const { id, url, state } = endpoint
  await updateEndpoint(tx, { ...endpoint, updated_at: now.toISOString() })
  // The listener was permitted for the old URL; for the new one the rules may differ.
  if (url !== before.webhook.url) await endListening(tx, now, sql`endpoint_id = ${id}`)
  if (state !== before.webhook.state) await setState(tx, id, state as 'enabled' | 'disabled', now)
}

/** The endpoint of an app has no teams: the installation decides which events it receives. */
function endpointOf(manifest: Manifest, id: string, createdBy: string | null, now: string): Endpoint {
  const { webhook } = manifest
  return {
    id,
    label: manifest.name,
    url: webhook?.url ?? '',
    all_teams: false,
    team_ids: [],
    resource_types: webhook?.resource_types ?? [],
    filters: null,
    state: webhook && webhook.enabled !== false ? 'enabled' : 'disabled',
    created_by: createdBy,
    created_at: now,
    updated_at: now,
  }
}

/**
 * Keeps the row, so that tokens of the app are refused with INSTALLATION_REVOKED, and the endpoint, so that `revoked`
 * is still delivered.
 */
export const deleteApp = (ctx: Context, admitted: Member, id: string) =>
  transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, now, caller } = unit
    const { name, endpointId } = await findOwnApp(tx, caller, id, sql`for update of a, e`)
    await uninstallApp(unit, id)
    await tx.run(sql`update agent_apps set deleted_at = ${now}, updated_at = ${now} where id = ${id}`)
    await tx.run(sql`delete from app_icons where app_id = ${id}`)
    await stopReplay(tx, endpointId, now)
    await clearResourceTypes(tx, endpointId)
    await recordAudit(unit, { action: 'app.deleted', subjectId: id, details: { name } })
  })

export const rotateClientSecret = (ctx: Context, admitted: Member, id: string) =>
  withLockedApp(ctx, admitted, id, async (unit, app) => {
    refuseA2a(app)
    const secret = newSecret('svc_sk_')
    await unit.tx.run(sql`
      update agent_apps set client_secret_hash = ${sha256(secret)}, updated_at = ${unit.now} where id = ${id}`)
    await endGrantsAndTokens(unit, grantsOf(id, sql`by_secret`))
    await recordAudit(unit, { action: 'app.client_secret_rotated', subjectId: id })
    return { client_secret: secret }
  })

export const rotateAppWebhookSecret = (ctx: Context, admitted: Member, id: string, rotation: Rotation) =>
  withLockedApp(ctx, admitted, id, async (unit, app) => {
    refuseA2a(app)
    await recordAudit(unit, { action: 'app.webhook_secret_rotated', subjectId: id, details: { ...rotation } })
    const { secret, ...rest } = await rotateSecret(unit.tx, ctx.keys, app.endpointId, unit.now, rotation)
    return { webhook_secret: secret, ...rest }
  })

export const finishAppRotation = (ctx: Context, admitted: Member, id: string) =>
  withLockedApp(ctx, admitted, id, async (unit, app) => {
    refuseA2a(app)
    await recordAudit(unit, { action: 'app.webhook_rotation_finished', subjectId: id })
    return { webhook_secret: await finishRotation(unit.tx, ctx.keys, app.endpointId, unit.now) }
  })

export const switchAppWebhook = (ctx: Context, admitted: Member, id: string, state: 'enabled' | 'disabled') =>
  withLockedApp(ctx, admitted, id, async (unit, app): Promise<AgentApp> => {
    const { tx, now, caller } = unit
    if (state === 'enabled' && app.webhook.url === '')
      throw invalid({ 'webhook.url': 'must be set before the webhook is enabled' })
    if (state === 'enabled' && app.a2a?.new_origin)
      throw new ApiError('A2A_CARD_UNUSABLE', { reason: 'origin_changed' })
    if (app.webhook.state !== state) {
      await setState(tx, app.endpointId, state, now)
      await stopReplay(tx, app.endpointId, now)
      await recordAudit(unit, { action: `app.webhook_${state}`, subjectId: id })
    }
    return readApp(tx, now, caller, id)
  })

export const startAppReplay = (ctx: Context, admitted: Member, id: string, wanted: NewReplay) =>
  withLockedApp(ctx, admitted, id, async (unit, { endpointId, webhook }) => {
    const started = await startReplay(unit, { id: endpointId, state: webhook.state }, wanted)
    if ('id' in started) {
      const details = { replay_id: started.id, matched: started.matched }
      await recordAudit(unit, { action: 'app.replay_started', subjectId: id, details })
    }
    return started
  })

export const stopAppReplay = (ctx: Context, admitted: Member, id: string, replayId: string) =>
  withLockedApp(ctx, admitted, id, async (unit, { endpointId }) => {
    await readReplay(unit.tx, endpointId, replayId)
    if (await stopReplay(unit.tx, endpointId, unit.now, replayId)) {
      await recordAudit(unit, { action: 'app.replay_stopped', subjectId: id, details: { replay_id: replayId } })
    }
  })

/** Runs `work` with the app locked, if the caller may manage it. */
const withLockedApp = <T>(
  ctx: Context,
  admitted: Member,
  id: string,
  work: (unit: UnitOfWork<Member>, app: StoredApp) => Promise<T>,
) =>
  transactAs(ctx, admitted, 'member', async (unit) =>
    work(unit, await findOwnApp(unit.tx, unit.caller, id, sql`for no key update of a, e`)),
  )
