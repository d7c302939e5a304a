import type { NewWebhook, Webhook, WebhookChange } from '@baton/protocol'
import { recordDeed } from '../audit/record.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import {
  deleteEndpoint,
  endpointColumns,
  insertEndpoint,
  isWebhookOf,
  lockEndpoint,
  newWebhookSecret,
  readSecret,
  rotateSecret,
  setState,
  updateEndpoint,
} from '../delivery/endpoints.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { judgeUrl } from '../outbound/target.ts'
import { confirmRole, lockWorkspace } from '../workspaces/members.ts'

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
  ctx.db.tx(async (tx) => {
    await lockWorkspace(tx, admitted.workspaceId)
    const caller = await confirmRole(tx, admitted, 'manager')
    const now = ctx.clock.now().toISOString()
    const webhook: Webhook = {
      ...wanted,
      id: newId('whk'),
      team_ids: wanted.team_ids ?? [],
      state: 'enabled',
      created_by: caller.id,
      created_at: now,
      updated_at: now,
    }
    await check(ctx, tx, caller, webhook)
    await checkLimit(ctx, tx, caller)
    const secret = newWebhookSecret()
    await insertEndpoint(tx, caller.workspaceId, ctx.keys.seal(secret, webhook.id), webhook)
    await recordDeed(ctx, tx, caller, 'webhook.created', webhook.id, { label: webhook.label, host: hostOf(webhook) })
    return { ...webhook, secret }
  })

export const updateWebhook = (ctx: Context, admitted: Member, id: string, change: WebhookChange) =>
  changing(ctx, admitted, id, async (tx, caller, before) => {
    const teamIds = change.all_teams === true ? [] : before.team_ids
    const webhook: Webhook = {
      ...before,
      team_ids: teamIds,
      ...change,
      updated_at: ctx.clock.now().toISOString(),
    }
    await check(ctx, tx, caller, webhook)
    await updateEndpoint(tx, webhook)
    await recordDeed(ctx, tx, caller, 'webhook.updated', id, { fields: Object.keys(change), host: hostOf(webhook) })
    return webhook
  })

export const deleteWebhook = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (tx, caller, { label }) => {
    await deleteEndpoint(tx, id, ctx.clock.now())
    await recordDeed(ctx, tx, caller, 'webhook.deleted', id, { label })
  })

/** Enabling clears `failing` (webhook.enable). */
export const switchWebhook = (ctx: Context, admitted: Member, id: string, state: 'enabled' | 'disabled') =>
  changing(ctx, admitted, id, async (tx, caller, webhook): Promise<Webhook> => {
    if (webhook.state === state) return webhook
    const now = ctx.clock.now()
    await setState(tx, id, state, now)
    await recordDeed(ctx, tx, caller, `webhook.${state}`, id, { from: webhook.state })
    return { ...webhook, state, updated_at: now.toISOString() }
  })

export const showSecret = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (tx, caller) => {
    await recordDeed(ctx, tx, caller, 'webhook.secret_shown', id)
    return { secret: await readSecret(tx, ctx.keys, id) }
  })

export const rotateWebhookSecret = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async (tx, caller) => {
    await recordDeed(ctx, tx, caller, 'webhook.secret_rotated', id)
    return { secret: await rotateSecret(tx, ctx.keys, id, ctx.clock.now()) }
  })

/** Runs `work` with the manager's role confirmed and the webhook locked. */
const changing = <T>(
  ctx: Context,
  admitted: Member,
  id: string,
  work: (tx: Tx, caller: Member, webhook: Webhook) => Promise<T>,
) =>
  ctx.db.tx(async (tx) => {
    const caller = await confirmRole(tx, admitted, 'manager')
    return work(tx, caller, await lockEndpoint(tx, caller.workspaceId, id))
  })

/** Validates the webhook with its changes applied. */
async function check({ config }: Context, tx: Tx, { workspaceId }: Member, webhook: Webhook) {
  const problems: Record<string, string> = {}
  const judged = judgeUrl(webhook.url, config.webhookAllow)
  if ('refused' in judged) problems.url = judged.refused
  if (webhook.all_teams && webhook.team_ids.length > 0) problems.team_ids = 'must be empty when all_teams is true'
  if (!webhook.all_teams && webhook.team_ids.length === 0) {
    problems.team_ids = 'must name one or more teams when all_teams is false'
  }
  const known = await tx.rows(sql`
    select id from teams where workspace_id = ${workspaceId} and id = any(${webhook.team_ids})`)
  if (known.length < webhook.team_ids.length) problems.team_ids = 'contains an id that is not a team of this workspace'
  if (Object.keys(problems).length > 0) throw invalid(problems)
}

/** Disabled webhooks count, deleted ones do not (webhook.limit-counting). */
async function checkLimit({ config }: Context, tx: Tx, { workspaceId }: Member) {
  const row = await tx.row<{ count: number }>(sql`
    select count(*) as count from endpoints where ${isWebhookOf(workspaceId)}`)
  if (row && row.count >= config.webhookLimit) {
    throw new ApiError('WEBHOOK_LIMIT_REACHED', { limit: config.webhookLimit })
  }
}

const hostOf = ({ url }: Webhook) => new URL(url).host
