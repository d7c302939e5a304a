import type { EndpointState, ResourceType, Rotation, WebhookFilters } from '@baton/protocol'
import { hours, plus } from '../clock.ts'
import type { Keyring } from '../crypto.ts'
import { newSecret } from '../crypto.ts'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { ApiError, found } from '../http/errors.ts'
import { canceled } from './stages.ts'

/** Where events are delivered to. Lock its row before enabling, disabling, changing or deleting it. */
export interface Endpoint {
  id: string
  label: string
  url: string
  all_teams: boolean
  team_ids: string[]
  resource_types: ResourceType[]
  filters: WebhookFilters | null
  state: EndpointState
  created_by: string | null
  created_at: string
  updated_at: string
}

export const endpointColumns = sql`
  id, label, url, all_teams, team_ids, resource_types, filters, state, created_by, created_at, updated_at`

const json = (filters: WebhookFilters | null) => sql`${filters && JSON.stringify(filters)}::jsonb`

/** Excludes the endpoints of agent apps, which are found through their app. */
export const isWebhookOf = (workspaceId: string) =>
  sql`workspace_id = ${workspaceId} and app_id is null and deleted_at is null`

const ofWorkspace = (workspaceId: string, id: string) => sql`${isWebhookOf(workspaceId)} and id = ${id}`

export const readEndpoint = async (db: Queryable, workspaceId: string, id: string) =>
  found(await db.row<Endpoint>(sql`select ${endpointColumns} from endpoints where ${ofWorkspace(workspaceId, id)}`))

export const lockEndpoint = async (tx: Tx, workspaceId: string, id: string) =>
  found(
    await tx.row<Endpoint>(sql`
      select ${endpointColumns} from endpoints where ${ofWorkspace(workspaceId, id)} for no key update`),
  )

export const insertEndpoint = (
  tx: Tx,
  workspaceId: string,
  sealed: string,
  endpoint: Endpoint,
  { appId, protocol }: { appId: string | null; protocol: 'webhook' | 'a2a' } = { appId: null, protocol: 'webhook' },
) =>
  tx.run(sql`
    insert into endpoints (id, workspace_id, app_id, protocol, label, url, secret, state, state_since, all_teams, team_ids, resource_types,
      filters, created_by, created_at, updated_at)
    values (${endpoint.id}, ${workspaceId}, ${appId}, ${protocol}, ${endpoint.label}, ${endpoint.url}, ${sealed}, ${endpoint.state},
      ${endpoint.created_at}, ${endpoint.all_teams}, ${endpoint.team_ids}, ${endpoint.resource_types},
      ${json(endpoint.filters)}, ${endpoint.created_by}, ${endpoint.created_at}, ${endpoint.updated_at})`)

/** The endpoints of webhooks that chose the team, locked in order; `only` if they chose no other. */
export const endpointsOfTeam = (tx: Tx, workspaceId: string, teamId: string) =>
  tx.rows<{ id: string; only: boolean }>(sql`
    select id, cardinality(team_ids) = 1 as only from endpoints
    where workspace_id = ${workspaceId} and deleted_at is null and not all_teams and ${teamId} = any(team_ids)
    order by id for no key update`)

export const removeTeamFromEndpoints = (tx: Tx, ids: readonly string[], teamId: string, now: Date) =>
  tx.run(sql`
    update endpoints set team_ids = array_remove(team_ids, ${teamId}), updated_at = ${now} where id = any(${ids})`)

export const updateEndpoint = (
  tx: Tx,
  { id, label, url, all_teams, team_ids, resource_types, filters, updated_at }: Endpoint,
) =>
  tx.run(sql`
    update endpoints set label = ${label}, url = ${url}, all_teams = ${all_teams}, team_ids = ${team_ids},
      resource_types = ${resource_types}, filters = ${json(filters)}, updated_at = ${updated_at}
    where id = ${id}`)

/** From now on the endpoint receives only events recorded for it directly. */
export const clearResourceTypes = (tx: Tx, id: string) =>
  tx.run(sql`update endpoints set resource_types = '{}' where id = ${id}`)

/** Unless enabled, its deliveries are held, except redeliveries. Failures before `state_since` no longer count. */
export async function setState(tx: Tx, id: string, state: 'enabled' | 'disabled', now: Date) {
  // `now` can be earlier than a change that held the lock. Failures up to that change must not count from here on.
  await tx.run(sql`
    update endpoints set state = ${state}, updated_at = ${now},
      state_since = case when state_since > ${now} then state_since + interval '1 millisecond' else ${now} end
    where id = ${id}`)
  tx.afterCommit('due', [id])
}

/** Holds all deliveries of the workspace's endpoints, also those that were asked for, until they are resumed. */
export const pauseEndpoints = (tx: Tx, workspaceId: string) =>
  tx.run(sql`update endpoints set paused = true, next_due_at = null where workspace_id = ${workspaceId}`)

export async function resumeEndpoints(tx: Tx, which: Sql) {
  const resumed = await tx.rows<{ id: string }>(sql`
    update endpoints set paused = false where paused and ${which} returning id`)
  tx.afterCommit(
    'due',
    resumed.map(({ id }) => id),
  )
}

export const setUrl = (tx: Tx, id: string, url: string, now: Date) =>
  tx.run(sql`update endpoints set url = ${url}, updated_at = ${now} where id = ${id} and url <> ${url}`)

/** Holds its deliveries until it is enabled again. Returns whether it was enabled. */
export const markFailing = async (tx: Tx, id: string, now: Date): Promise<boolean> =>
  (await tx.run(sql`
    update endpoints set state = 'failing', state_since = ${now}, updated_at = ${now}
    where id = ${id} and state = 'enabled' and deleted_at is null`)) > 0

/** Cancels its pending deliveries, even those being sent now (delivery.webhook-delete-cancels). */
export async function deleteEndpoint(tx: Tx, id: string, now: Date) {
  await tx.run(sql`update endpoints set deleted_at = ${now}, next_due_at = null where id = ${id}`)
  await cancelPending(tx, id, now)
}

/**
 * Cancels pending deliveries, except those that survive a revocation (delivery.revoked-survives-delete). Lock the
 * endpoint's row before, so that nothing is claimed meanwhile.
 */
export const cancelPending = (tx: Tx, id: string, now: Date) =>
  tx.run(sql`
    update deliveries set ${canceled(now)}
    where endpoint_id = ${id} and status = 'pending' and not survives_revocation`)

export const newWebhookSecret = () => newSecret('pwhsec_')

/** As stored. During the overlap of a rotation there are two. */
export interface SealedSecrets {
  secret: string
  nextSecret: string | null
  takesOverAt: string | null
}

const secretColumns = sql`secret, next_secret as "nextSecret", takes_over_at as "takesOverAt"`

/** The secrets that sign at a time: the next one takes over then, whether or not a sweep has stored it (rotation.overlap). */
export const secretsAt = (now: Date, { secret, nextSecret, takesOverAt }: SealedSecrets) =>
  nextSecret === null || takesOverAt === null
    ? { secret, nextSecret: null, takesOverAt: null }
    : new Date(takesOverAt) > now
      ? { secret, nextSecret, takesOverAt }
      : { secret: nextSecret, nextSecret: null, takesOverAt: null }

export function openSecrets(keys: Keyring, id: string, now: Date, sealed: SealedSecrets): SealedSecrets {
  const { secret, nextSecret, takesOverAt } = secretsAt(now, sealed)
  return { secret: keys.open(secret, id), nextSecret: nextSecret && keys.open(nextSecret, id), takesOverAt }
}

export async function readSecrets(tx: Queryable, keys: Keyring, id: string, now: Date) {
  return openSecrets(keys, id, now, await sealedSecrets(tx, id, now))
}

/**
 * Replaces the secret at once, or after an overlap in which both sign. Lock the endpoint's row before. Returns the new
 * secret, and when it takes over if there is an overlap.
 */
export async function rotateSecret(
  tx: Tx,
  keys: Keyring,
  id: string,
  now: Date,
  { overlap_hours: overlapHours }: Rotation,
): Promise<{ secret: string; takes_over_at?: string }> {
  const secret = newWebhookSecret()
  const sealed = keys.seal(secret, id)
  if (overlapHours === undefined) {
    await storeSecrets(tx, id, now, { secret: sealed, nextSecret: null, takesOverAt: null })
    return { secret }
  }
  const before = await sealedSecrets(tx, id, now)
  if (before.nextSecret !== null) throw new ApiError('ROTATION_UNDER_WAY', { takes_over_at: before.takesOverAt })
  const takesOverAt = plus(now, hours(overlapHours)).toISOString()
  await storeSecrets(tx, id, now, { secret: before.secret, nextSecret: sealed, takesOverAt })
  return { secret, takes_over_at: takesOverAt }
}

/** Ends the overlap: the next secret becomes the only one, and is returned. Lock the endpoint's row before. */
export async function finishRotation(tx: Tx, keys: Keyring, id: string, now: Date): Promise<string> {
  const { nextSecret } = await sealedSecrets(tx, id, now)
  const secret = found(nextSecret ?? undefined)
  await storeSecrets(tx, id, now, { secret, nextSecret: null, takesOverAt: null })
  return keys.open(secret, id)
}

const sealedSecrets = async (tx: Queryable, id: string, now: Date) =>
  secretsAt(now, found(await tx.row<SealedSecrets>(sql`select ${secretColumns} from endpoints where id = ${id}`)))

const storeSecrets = (tx: Tx, id: string, now: Date, { secret, nextSecret, takesOverAt }: SealedSecrets) =>
  tx.run(sql`
    update endpoints set secret = ${secret}, next_secret = ${nextSecret}, takes_over_at = ${takesOverAt},
      updated_at = ${now}
    where id = ${id}`)

/** Stores the secrets that have taken over, so that the old ones are not kept. Nothing depends on it. */
export const storeTakenOver = (db: Db, now: Date) =>
  db.run(sql`
    update endpoints set secret = next_secret, next_secret = null, takes_over_at = null where takes_over_at <= ${now}`)

/** Seals secrets again with the current key, so that the previous key can be removed after one start. */
export async function resealSecrets(db: Db, keys: Keyring) {
  const isOld = (column: Sql) => sql`${column} not like ${`${keys.currentPrefix}%`}`
  for (let after = ''; ; ) {
    const rows = await db.rows<{ id: string; secret: string; next: string | null }>(sql`
      select id, secret, next_secret as next from endpoints
      where id > ${after} and (${isOld(sql`secret`)} or ${isOld(sql`next_secret`)})
      order by id limit 500`)
    for (const { id, secret, next } of rows) {
      const sealed = (old: string) => keys.seal(keys.open(old, id), id)
      await db.run(sql`
        update endpoints set secret = ${sealed(secret)}, next_secret = ${next && sealed(next)}
        where id = ${id} and secret = ${secret} and next_secret is not distinct from ${next}::text`)
    }
    const last = rows.at(-1)
    if (!last) return
    after = last.id
  }
}
