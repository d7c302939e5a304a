import {
  type A2aCredential,
  type A2aTask,
  type AgentApp,
  AppName,
  type InspectedCard,
  type Manifest,
  type NewA2aApp,
  type PingResult,
  programLimits,
} from '@baton/protocol'
import { Type } from 'typebox'
import { findApp, findOwnApp, insertApp, readApp } from '../agent-apps/apps.ts'
import { chosenTeams, install } from '../agent-apps/installations.ts'
import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { markFailing, setState, setUrl } from '../delivery/endpoints.ts'
import { reportFailing } from '../delivery/health.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { takeOne } from '../http/rate-limit.ts'
import { bodyProblems } from '../http/validate.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { transact } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace, transactAs } from '../workspaces/members.ts'
import { cardUrlOf, fetchCard, readCard, type UsableCard, type UsedInterface, usableCard } from './card.ts'
import { checkCredential, sealCredential } from './credential.ts'

const readAgainMs = days(1)
const nameProblems = bodyProblems(Type.Object({ name: AppName }))

/** Reading a card makes a request to any public host, so it is limited. */
const countRead = ({ db, clock }: Context, { workspaceId }: Member) =>
  takeOne(db, `a2a card ${workspaceId}`, { limit: programLimits.a2aReadsPerMinute, periodMs: 60_000 }, clock.now())

export async function inspectCard(ctx: Context, caller: Member, cardUrl: string): Promise<InspectedCard> {
  const url = cardUrlOf(cardUrl, ctx.config.webhookAllow)
  await countRead(ctx, caller)
  const { card, used, warnings } = await fetchCard(ctx, url)
  return { ...card, interface: shownInterface(used), warnings }
}

const shownInterface = ({ tenant: _, ...shown }: UsedInterface) => shown

/** Registers and installs an agent in one step: its card takes the place of a manifest, the caller that of the consent. */
export async function createA2aApp(ctx: Context, admitted: Member, wanted: NewA2aApp) {
  const { card_url, scopes, credential = null, name: chosen, ...coverage } = wanted
  checkCredential(credential)
  const cardUrl = cardUrlOf(card_url, ctx.config.webhookAllow)
  // Before the card is read: a mistake in the request makes no request elsewhere.
  await chosenTeams(ctx.db, admitted.workspaceId, coverage)
  await countRead(ctx, admitted)
  const usable = await fetchCard(ctx, cardUrl)
  const manifest = manifestOf(usable, chosen, scopes)
  return transact(ctx, admitted, async (admission) => {
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const unit = await confirmRole(admission, 'manager')
    const { tx, now, caller } = unit
    const teams = await chosenTeams(tx, caller.workspaceId, coverage)
    const app = await insertApp(unit, ctx.keys, manifest, undefined, 'a2a')
    await tx.run(sql`
      insert into a2a_apps (app_id, workspace_id, card_url, card, interface, credential, credential_type, fetched_at,
        read_at)
      values (${app.id}, ${caller.workspaceId}, ${cardUrl}, ${JSON.stringify(usable.card)}::jsonb,
        ${JSON.stringify(usable.used)}::jsonb, ${sealCredential(ctx.keys, app.id, credential)},
        ${credential?.type ?? null}, ${now}, ${now})`)
    const { id } = await install(unit, { app, scopes, teams, firstOnly: true })
    return { app: await readApp(tx, now, caller, app.id), installation_id: id }
  })
}

function manifestOf(
  { card, used, iconUrl }: UsableCard,
  chosen: string | undefined,
  scopes: NewA2aApp['scopes'],
): Manifest {
  // Normalised in place by the check, like the name of a manifest.
  const named = { name: chosen ?? card.name }
  const problems = nameProblems(named)
  if (problems.size > 0) throw invalid(Object.fromEntries(problems))
  const { provider } = card
  return {
    schemaVersion: '1.0.0',
    name: named.name,
    ...(card.description ? { description: card.description } : {}),
    ...(iconUrl ? { icon_url: iconUrl } : {}),
    developer: {
      name: provider?.name ?? new URL(used.url).hostname,
      ...(provider?.url && /^https?:\/\//.test(provider.url) && URL.canParse(provider.url)
        ? { url: provider.url }
        : {}),
    },
    oauth: { redirect_uris: [], scopes: [...scopes] },
    webhook: { url: used.url },
  }
}

export interface StoredA2a {
  cardUrl: string
  interface: UsedInterface
  newOrigin: string | null
  endpointId: string
}

const findA2a = async (db: Queryable, appId: string, lock: Sql = none): Promise<StoredA2a> =>
  found(
    await db.row<StoredA2a>(sql`
      select x.card_url as "cardUrl", x.interface, x.new_origin as "newOrigin", a.endpoint_id as "endpointId"
      from a2a_apps x join agent_apps a on a.id = x.app_id where x.app_id = ${appId} ${lock}`),
  )

/** Reads the card again. With `accept`, the origin that it names now becomes the approved one (a2a.origin-pinned). */
export async function refreshCard(ctx: Context, admitted: Member, appId: string, accept: boolean): Promise<AgentApp> {
  await findApp(ctx.db, admitted, appId)
  const { cardUrl } = await findA2a(ctx.db, appId)
  await countRead(ctx, admitted)
  const usable = await fetchCard(ctx, cardUrl)
  return transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, now, caller } = unit
    await findApp(tx, caller, appId, sql`for no key update of a, e`)
    const before = await findA2a(tx, appId, sql`for no key update of x`)
    await storeCard(unit, appId, before, usable, accept)
    if (accept && (before.newOrigin || originOf(before.interface) !== originOf(usable.used))) {
      await setState(tx, before.endpointId, 'enabled', now)
      const changes = { interface_url: { from: before.interface.url, to: usable.used.url } }
      await recordAudit(unit, { action: 'app.updated', subjectId: appId, details: { changes } })
    }
    return readApp(tx, now, caller, appId)
  })
}

const originOf = ({ url }: { url: string }) => new URL(url).origin

/** Stores what a card says now. Nothing is sent to an origin that no manager has approved. */
async function storeCard(
  { tx, now, caller }: UnitOfWork<{ id: string | null; workspaceId: string }>,
  appId: string,
  before: StoredA2a,
  { card, used }: UsableCard,
  accept: boolean,
) {
  const isSame = originOf(before.interface) === originOf(used)
  const isApproved = isSame || accept
  await tx.run(sql`
    update a2a_apps set card = ${JSON.stringify(card)}::jsonb, fetched_at = ${now}, read_at = ${now},
      interface = ${JSON.stringify(isApproved ? used : before.interface)}::jsonb,
      new_origin = ${isApproved ? null : originOf(used)}
    where app_id = ${appId}`)
  if (isApproved) await setUrl(tx, before.endpointId, used.url, now)
  else if (await markFailing(tx, before.endpointId, now)) {
    await reportFailing(tx, now, { id: before.endpointId, workspaceId: caller.workspaceId, appId })
  }
}

/** Reads the cards that were last read a day ago. A card that cannot be read now stays as it is. */
export async function refreshOldCards(ctx: Context) {
  const { db, clock } = ctx
  const isDue = sql`read_at <= ${plus(clock.now(), -readAgainMs)}`
  for (;;) {
    const app = await db.row<{ id: string; workspaceId: string; cardUrl: string }>(sql`
      update a2a_apps x set read_at = ${clock.now()} where app_id = (
        select x.app_id from a2a_apps x join agent_apps a on a.id = x.app_id and a.deleted_at is null
        where ${isDue} and not exists (select from workspaces w where w.id = x.workspace_id and w.deletion_at is not null)
        order by read_at limit 1 for update of x skip locked)
      returning app_id as id, workspace_id as "workspaceId", card_url as "cardUrl"`)
    if (!app) return
    const { raw } = await readCard(ctx, app.cardUrl)
    if (raw === undefined) continue
    const usable = await usableCard(raw, ctx.config.webhookAllow).catch((error) => {
      if (!(error instanceof ApiError)) throw error
    })
    if (usable)
      await transact(ctx, { id: null, workspaceId: app.workspaceId }, async (unit) => {
        const before = await findA2a(unit.tx, app.id, sql`for no key update of x`)
        await storeCard(unit, app.id, before, usable, false)
      })
  }
}

export const setCredential = (ctx: Context, admitted: Member, appId: string, credential: A2aCredential) => {
  checkCredential(credential)
  return transactAs(ctx, admitted, 'manager', async (unit) => {
    const { tx, now, caller } = unit
    await findApp(tx, caller, appId, sql`for no key update of a, e`)
    const changed = await tx.row<{ before: string | null }>(sql`
      update a2a_apps x set credential = ${sealCredential(ctx.keys, appId, credential)},
        credential_type = ${credential?.type ?? null}
      from (select app_id, credential_type as before from a2a_apps where app_id = ${appId} for no key update) b
      where x.app_id = b.app_id returning b.before`)
    if (!changed) throw notFound()
    const changes = { credential_type: { from: changed.before, to: credential?.type ?? null } }
    await recordAudit(unit, { action: 'app.updated', subjectId: appId, details: { changes } })
    return readApp(tx, now, caller, appId)
  })
}

/** The test of an A2A app's webhook: reads the card, and sends the agent no message (a2a.no-oauth). */
export async function testCard(ctx: Context, caller: Member, appId: string): Promise<PingResult> {
  const { cardUrl } = await findA2a(ctx.db, appId)
  await countRead(ctx, caller)
  const { outcome, raw } = await readCard(ctx, cardUrl)
  const isUsable =
    raw !== undefined &&
    (await usableCard(raw, ctx.config.webhookAllow).then(
      () => true,
      () => false,
    ))
  return {
    ok: isUsable,
    status: outcome.status,
    reason: isUsable ? null : outcome.ok ? 'http_error' : outcome.reason,
    duration_ms: Math.round(outcome.durationMs),
  }
}

export async function listTasks({ db, keys }: Context, caller: Member, appId: string, query: PageQuery) {
  await findOwnApp(db, caller, appId)
  await findA2a(db, appId)
  const { data, next_cursor } = await page<A2aTask & { id: string }>(
    keys,
    `A2A tasks of ${appId}`,
    query,
    ({ id }) => [id],
    (after, count) =>
      db.rows(sql`
        select id, session_id, task_id, context_id, state, updated_at from a2a_tasks
        where app_id = ${appId} ${after ? sql`and id < ${after[0]}` : none} order by id desc limit ${count}`),
  )
  return { data: data.map(({ id: _, ...task }) => task), next_cursor }
}
