import type { NewReplay, NewWebhook, Rotation, Webhook, WebhookChange, WebhookFilters } from '@baton/protocol'
import { changesBetween } from '../audit/changes.ts'
import { recordAudit } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import {
  deleteEndpoint,
  endpointColumns,
  finishRotation,
  insertEndpoint,
  isWebhookOf,
  lockEndpoint,
  newWebhookSecret,
  readSecrets,
  rotateSecret,
  setState,
  updateEndpoint,
} from '../delivery/endpoints.ts'
import { idsIn } from '../delivery/filters.ts'
import { readReplay, startReplay, stopReplay } from '../events/replay.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { judgeUrl } from '../outbound/target.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace, transactAs } from '../workspaces/members.ts'
import { usersSeenBy } from '../workspaces/users.ts'

export const listWebhooks = ({ db, keys }: Context, { workspaceId }: Member, query: PageQuery) =>
  page<Webhook>(
    keys,
    'webhooks',
    query,
    (webhook) => [webhook.id],
    (after, count) =>
      db.rows(sql`
      select ${endpointColumns} from endpoints
      where ${isWebhookOf(workspaceId)} ${after ? sql`and id < ${after[0]}` : none}
      order by id desc limit ${count}`),
  )

export const createWebhook = (ctx: Context, admitted: Member, wanted: NewWebhook) =>
  transact(ctx, admitted, async (admission) => {
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const unit = await confirmRole(admission, 'manager')
    const { tx, now, caller } = unit
    const webhook: Webhook = {
      ...wanted,
      id: newId('whk'),
      team_ids: wanted.team_ids ?? [],
      filters: wanted.filters ?? null,
      state: 'enabled',
      created_by: caller.id,
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
    }
    await check(unit, webhook, webhook.filters)
    await checkLimit(unit)
    const secret = newWebhookSecret()
    await insertEndpoint(tx, caller.workspaceId, ctx.keys.seal(secret, webhook.id), webhook)
    const details = { label: webhook.label, host: hostOf(webhook) }
    await recordAudit(unit, { action: 'webhook.created', subjectId: webhook.id, details })
    return { ...webhook, secret }
  })

export const updateWebhook = (ctx: Context, admitted: Member, id: string, change: WebhookChange) =>
  changing(ctx, admitted, id, async (unit, before) => {
    const teamIds = change.all_teams === true ? [] : before.team_ids
    const webhook: Webhook = {
      ...before,
      team_ids: teamIds,
      ...change,
      updated_at: unit.now.toISOString(),
    }
    // Stored filters may name items that were deleted since.
    await check(unit, webhook, change.filters ?? null)
    await updateEndpoint(unit.tx, webhook)
    const changes = changesBetween(before, webhook, [
      'label',
      'url',
      'all_teams',
      'team_ids',
      'resource_types',
      'filters',
    ])
    const details = { fields: Object.keys(change), host: hostOf(webhook), changes }
    await recordAudit(unit, { action: 'webhook.updated', subjectId: id, details })
    return webhook
  })

export const deleteWebhook = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (unit, { label }) => {
    await stopReplay(unit.tx, id, unit.now)
    await deleteEndpoint(unit.tx, id, unit.now)
    await recordAudit(unit, { action: 'webhook.deleted', subjectId: id, details: { label } })
  })

/** Enabling clears `failing` (webhook.enable). */
export const switchWebhook = (ctx: Context, admitted: Member, id: string, state: 'enabled' | 'disabled') =>
  changing(ctx, admitted, id, async (unit, webhook): Promise<Webhook> => {
    if (webhook.state === state) return webhook
    await setState(unit.tx, id, state, unit.now)
    await stopReplay(unit.tx, id, unit.now)
    await recordAudit(unit, { action: `webhook.${state}`, subjectId: id, details: { from: webhook.state } })
    return { ...webhook, state, updated_at: unit.now.toISOString() }
  })

export const showSecret = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (unit) => {
    await recordAudit(unit, { action: 'webhook.secret_shown', subjectId: id })
    const { secret, nextSecret, takesOverAt } = await readSecrets(unit.tx, ctx.keys, id, unit.now)
    if (nextSecret === null || takesOverAt === null) return { secret }
    return { secret, next: { secret: nextSecret, takes_over_at: takesOverAt } }
  })

export const rotateWebhookSecret = (ctx: Context, admitted: Member, id: string, rotation: Rotation) =>
  changing(ctx, admitted, id, async (unit) => {
    await recordAudit(unit, { action: 'webhook.secret_rotated', subjectId: id, details: { ...rotation } })
    return rotateSecret(unit.tx, ctx.keys, id, unit.now, rotation)
  })

export const finishWebhookRotation = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (unit) => {
    await recordAudit(unit, { action: 'webhook.rotation_finished', subjectId: id })
    return { secret: await finishRotation(unit.tx, ctx.keys, id, unit.now) }
  })

export const startWebhookReplay = (ctx: Context, admitted: Member, id: string, wanted: NewReplay) =>
  changing(ctx, admitted, id, async (unit, webhook) => {
    const started = await startReplay(unit, webhook, wanted)
    if ('id' in started) {
      const details = { replay_id: started.id, which: wanted.which ?? 'failed', matched: started.matched }
      await recordAudit(unit, { action: 'webhook.replay_started', subjectId: id, details })
    }
    return started
  })

export const stopWebhookReplay = (ctx: Context, admitted: Member, id: string, replayId: string) =>
  changing(ctx, admitted, id, async (unit) => {
    await readReplay(unit.tx, id, replayId)
    if (await stopReplay(unit.tx, id, unit.now, replayId)) {
      await recordAudit(unit, { action: 'webhook.replay_stopped', subjectId: id, details: { replay_id: replayId } })
    }
  })

/** Runs `work` with the manager's role confirmed and the webhook locked. */
const changing = <T>(
  ctx: Context,
  admitted: Member,
  id: string,
  work: (unit: UnitOfWork<Member>, webhook: Webhook) => Promise<T>,
) =>
  transactAs(ctx, admitted, 'manager', async (unit) =>
    work(unit, await lockEndpoint(unit.tx, admitted.workspaceId, id)),
  )

/** Validates the webhook with its changes applied. The items that `newFilters` name have to exist. */
async function check({ tx, config, caller }: UnitOfWork<Member>, webhook: Webhook, newFilters: WebhookFilters | null) {
  const problems: Record<string, string> = {}
  const judged = judgeUrl(webhook.url, config.webhookAllow)
  if ('refused' in judged) problems.url = judged.refused
  if (webhook.all_teams && webhook.team_ids.length > 0) problems.team_ids = 'must be empty when all_teams is true'
  if (!webhook.all_teams && webhook.team_ids.length === 0) {
    problems.team_ids = 'must name one or more teams when all_teams is false'
  }
  const known = await tx.rows(sql`
    select id from teams where workspace_id = ${caller.workspaceId} and id = any(${webhook.team_ids})`)
  if (known.length < webhook.team_ids.length) problems.team_ids = 'contains an id that is not a team of this workspace'
  for (const type of Object.keys(webhook.filters ?? {})) {
    if (!(webhook.resource_types as string[]).includes(type)) {
      problems[`filters.${type}`] = 'is a type that is not in resource_types'
    }
  }
  if (newFilters) Object.assign(problems, await unknownIds(tx, caller, newFilters))
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

/** The fields of filters with an id that is no shared project, no label and no user of the workspace. */
async function unknownIds(tx: Queryable, caller: Member, filters: WebhookFilters): Promise<Record<string, string>> {
  const { projects, labels, users } = idsIn(filters)
  const ids = (named: { id: string }[]) => named.map(({ id }) => id)
  const known = await tx.rows<{ id: string }>(sql`
    select id from projects where workspace_id = ${caller.workspaceId} and id = any(${ids(projects)}) and not personal
    union all select id from labels where workspace_id = ${caller.workspaceId} and id = any(${ids(labels)})
    union all select id from (${usersSeenBy(caller)}) u where id = any(${ids(users)})`)
  const isKnown = new Set(ids(known))
  const unknown = [...projects, ...labels, ...users].filter(({ id }) => !isKnown.has(id))
  return Object.fromEntries(unknown.map(({ field }) => [field, 'contains an id that does not exist in this workspace']))
}

/** Disabled webhooks count, deleted ones do not (webhook.limit-counting). */
async function checkLimit({ tx, config, caller }: UnitOfWork<Member>) {
  const row = await tx.row<{ count: number }>(sql`
    select count(*) as count from endpoints where ${isWebhookOf(caller.workspaceId)}`)
  if (row && row.count >= config.webhookLimit) {
    throw new ApiError('WEBHOOK_LIMIT_REACHED', { limit: config.webhookLimit })
  }
}

const hostOf = ({ url }: Webhook) => new URL(url).host
