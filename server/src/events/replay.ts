import { limits, type NewReplay, type Replay } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import {
  countReplayed,
  createReplayed,
  markReplayed,
  type ReplayedEvent,
  releaseReplayed,
  takeOutcomes,
} from '../delivery/replayed.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { Reply } from '../http/route.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { isForWebhook } from './recipients.ts'
import {
  type Candidate,
  hasFailedTooOften,
  plusSkipped,
  type SkippedReasons,
  skipReason,
  windowFor,
  withOutcomes,
} from './replay-rules.ts'

/** Includes the outcomes that are not added to the row yet. */
const columns = sql`
  r.id, r.state, r.matched, r.succeeded + r.failed + o.succeeded + o.failed as sent,
  r.succeeded + o.succeeded as succeeded, r.failed + o.failed as failed, r.skipped, r.skipped_reasons, r.last_event_id,
  r.created_at, r.finished_at`
const replays = sql`replays r cross join lateral (
  select (count(*) filter (where succeeded))::int as succeeded, (count(*) filter (where not succeeded))::int as failed
  from replay_outcomes where replay_id = r.id) o`

export const listReplays = ({ db, keys }: Context, endpointId: string, query: PageQuery) =>
  page<Replay>(
    keys,
    `replays of ${endpointId}`,
    query,
    (replay) => [replay.id],
    (after, count) =>
      db.rows(sql`
      select ${columns} from ${replays}
      where r.endpoint_id = ${endpointId} ${after ? sql`and r.id < ${after[0]}` : none}
      order by r.id desc limit ${count}`),
  )

export const readReplay = async (db: Queryable, endpointId: string, id: string) =>
  found(
    await db.row<Replay>(sql`
      select ${columns} from ${replays} where r.endpoint_id = ${endpointId} and r.id = ${id}`),
  )

interface ReplayedEndpoint {
  id: string
  state: string
}

/**
 * Chooses the events, and begins to send them. With `dry_run` only counts them. Lock the endpoint's row before: one
 * endpoint has one replay at a time.
 */
export async function startReplay(
  { tx, now, caller }: UnitOfWork<Member>,
  endpoint: ReplayedEndpoint,
  { dry_run: dryRun = false, which = 'failed', ...wanted }: NewReplay,
): Promise<Replay | { matched: number }> {
  const chosen = await chosenEvents(tx, caller.workspaceId, endpoint.id, which, wanted)
  if (endpoint.state !== 'enabled') throw new ApiError('WEBHOOK_NOT_ENABLED')
  if (dryRun) {
    const row = await tx.row<{ count: number }>(sql`select count(*) as count from (${chosen}) c`)
    return { matched: withinLimit(row?.count ?? 0) }
  }
  const running = await tx.row(sql`select 1 from replays where endpoint_id = ${endpoint.id} and state = 'running'`)
  if (running) throw new ApiError('REPLAY_UNDER_WAY')
  const id = newId('rpl')
  await tx.run(sql`
    insert into replays (id, workspace_id, endpoint_id, which, state, matched, created_by, created_at)
    values (${id}, ${caller.workspaceId}, ${endpoint.id}, ${which}, 'running', 0, ${caller.id}, ${now})`)
  const matched = withinLimit(
    await tx.run(sql`insert into replay_events (replay_id, event_id)
    select ${id}, c.event_id from (${chosen}) c (event_id)`),
  )
  await tx.run(sql`update replays set matched = ${matched} where id = ${id}`)
  await advance(tx, now, id)
  return readReplay(tx, endpoint.id, id)
}

/** 202 for a replay, 200 for a count. */
export const started = (answer: Replay | { matched: number }) =>
  new Reply<Replay | { matched: number }>(answer, {}, 'id' in answer ? 202 : 200)

function withinLimit(matched: number): number {
  if (matched > limits.replayedEvents) throw new ApiError('REPLAY_TOO_LARGE', { limit: limits.replayedEvents })
  return matched
}

/** Selects the ids of the events, at most one more than a replay may have. */
async function chosenEvents(
  tx: Tx,
  workspaceId: string,
  endpointId: string,
  which: NewReplay['which'],
  { since, after_event_id: afterEventId, until, types }: NewReplay,
): Promise<Sql> {
  if ((since === undefined) === (afterEventId === undefined))
    throw invalid({ since: 'either since or after_event_id is required, not both' })
  const start = afterEventId === undefined ? undefined : await positionOf(tx, workspaceId, afterEventId)
  const isChosen = (createdAt: Sql, eventId: Sql, type: Sql) => sql`
    ${start ? sql`(${createdAt}, ${eventId}) > (${start.at}, ${start.id})` : sql`${createdAt} >= ${since}`}
    ${until ? sql`and ${createdAt} <= ${until}` : none} ${types ? sql`and ${type} = any(${types})` : none}`
  const delivered = sql`
    select d.event_id from deliveries d
    where d.endpoint_id = ${endpointId} and d.origin <> 'test' and d.type <> 'Ping'
      ${which === 'failed' ? sql`and d.status = 'failed'` : none}
      and ${isChosen(sql`d.created_at`, sql`d.event_id`, sql`d.type`)}`
  const missed = sql`
    select r.id from events r join endpoints e on e.id = ${endpointId}
    where r.workspace_id = ${workspaceId} and ${isChosen(sql`r.created_at`, sql`r.id`, sql`r.type`)}
      and ${isForWebhook}
      and not exists (select from deliveries d where d.endpoint_id = e.id and d.id = delivery_id(r.id, e.id))`
  const all = which === 'failed' ? delivered : which === 'missed' ? missed : sql`${delivered} union all ${missed}`
  return sql`${all} limit ${limits.replayedEvents + 1}`
}

/** Receivers of agent sessions know the id in the data, which names the session. */
async function positionOf(tx: Tx, workspaceId: string, eventId: string) {
  const sessionId = /^ase_(sess_[0-9a-z]{26})_/.exec(eventId)?.[1]
  const event = await tx.row<{ at: string; id: string }>(sql`
    select created_at as at, id from events where workspace_id = ${workspaceId} and ${
      sessionId ? sql`agent_session_id = ${sessionId} and body->'data'->>'event_id' = ${eventId}` : sql`id = ${eventId}`
    }`)
  if (!event) throw invalid({ after_event_id: 'must be the id of an event that is not older than 30 days' })
  return event
}

/** Ends the running replay of an endpoint, if there is one. Returns its id. */
export async function stopReplay(tx: Tx, endpointId: string, now: Date, id?: string): Promise<string | undefined> {
  const running = await tx.row<{ id: string }>(sql`
    select id from replays where endpoint_id = ${endpointId} and state = 'running' ${id ? sql`and id = ${id}` : none}
    for no key update`)
  if (!running) return undefined
  await end(tx, running.id, endpointId, 'stopped', now)
  return running.id
}

async function end(tx: Tx, id: string, endpointId: string, state: 'done' | 'stopped', now: Date) {
  await tx.run(sql`update replays set state = ${state}, finished_at = ${now} where id = ${id}`)
  await tx.run(sql`delete from replay_events where replay_id = ${id}`)
  await releaseReplayed(tx, id, endpointId)
}

/**
 * Moves every replay on that needs it. Returns how many did something. Any number of workers may call it: a replay is
 * locked while it moves, and everything it needs is stored, so that another worker continues after a crash.
 */
export async function advanceReplays(db: Db, now: Date): Promise<number> {
  const waiting = await db.rows<{ id: string }>(sql`
    select id from replays where state = 'running' union select replay_id from replay_outcomes`)
  let moved = 0
  for (const { id } of waiting) if (await db.tx((tx) => advance(tx, now, id))) moved++
  return moved
}

interface Moving {
  endpointId: string
  which: NewReplay['which']
  state: Replay['state']
  succeeded: number
  failed: number
  failedInRow: number
  skippedReasons: SkippedReasons
  /** The endpoint was disabled or deleted since the start. */
  isDisabled: boolean
}

/** Adds the outcomes to a replay, and takes up its next events. Returns whether it did something. */
async function advance(tx: Tx, now: Date, id: string): Promise<boolean> {
  const replay = await tx.row<Moving>(sql`
    select r.endpoint_id as "endpointId", r.which, r.state, r.succeeded, r.failed, r.failed_in_row as "failedInRow",
      r.skipped_reasons as "skippedReasons", e.state <> 'enabled' or e.state_since > r.created_at or e.deleted_at is not null as "isDisabled"
    from replays r join endpoints e on e.id = r.endpoint_id where r.id = ${id}
    for no key update of r skip locked`)
  if (!replay) return false
  const { endpointId } = replay
  const outcomes = await takeOutcomes(tx, id)
  const progress = withOutcomes(replay, outcomes)
  if (outcomes.length > 0) {
    await tx.run(sql`
      update replays set succeeded = ${progress.succeeded}, failed = ${progress.failed},
        failed_in_row = ${progress.failedInRow}
      where id = ${id}`)
  }
  if (replay.state !== 'running') return outcomes.length > 0
  if (replay.isDisabled || hasFailedTooOften(progress)) {
    await end(tx, id, endpointId, 'stopped', now)
    return true
  }
  const window = windowFor(progress)
  const waiting = await countReplayed(tx, id, endpointId, window)
  const taken = await takeUp(tx, id, replay, window - waiting)
  if (taken === 0 && waiting === 0) await end(tx, id, endpointId, 'done', now)
  return taken > 0 || waiting === 0 || outcomes.length > 0
}

type NextEvent = ReplayedEvent & Candidate & { delivery_id: string }

/** Marks the next events to be sent, or skips them. Returns how many were taken. */
async function takeUp(
  tx: Tx,
  id: string,
  { endpointId, which, skippedReasons }: Moving,
  count: number,
): Promise<number> {
  const next = await tx.rows<NextEvent>(sql`
    select q.event_id, v.workspace_id, v.type, v.action, v.created_at, delivery_id(q.event_id, ${endpointId}) as delivery_id,
      v.id is null as "isGone", coalesce(i.personal, p.personal, false) as "isPrivate",
      s.ended_at is not null as "sessionEnded", coalesce(n.revoked_at is not null and not d.survives_revocation
        or v.type in ('Issue', 'Comment', 'Project') and not (n.all_teams or n.team_ids && v.team_ids), false)
        as "isOutOfReach", d.status, coalesce(d.attempts, 0) as attempts,
      coalesce(d.redeliveries, 0) as redeliveries
    from (select event_id from replay_events where replay_id = ${id} order by event_id limit ${count}) q
    left join events v on v.id = q.event_id
    left join deliveries d on d.endpoint_id = ${endpointId} and d.id = delivery_id(q.event_id, ${endpointId})
    left join installations n on n.id = d.installation_id
    left join agent_sessions s on s.id = v.agent_session_id
    left join issues i on i.id = case v.type when 'Issue' then v.body->'data'->>'id'
      when 'Comment' then v.body->'data'->>'target_id' end
    left join projects p on p.id = case v.type when 'Project' then v.body->'data'->>'id'
      when 'Comment' then v.body->'data'->>'target_id' end
    order by q.event_id`)
  const last = next.at(-1)
  if (!last) return 0
  let reasons = skippedReasons
  const sent = next.filter((one) => {
    const reason = skipReason(one, which)
    if (reason) reasons = plusSkipped(reasons, reason)
    return reason === null
  })
  const known = sent.filter(({ status }) => status !== null).map((one) => one.delivery_id)
  const created = sent.filter(({ status }) => status === null)
  const marked = (await markReplayed(tx, id, endpointId, known)) + (await createReplayed(tx, id, endpointId, created))
  // Those canceled since they were read.
  reasons = plusSkipped(reasons, 'canceled', sent.length - marked)
  await tx.run(sql`delete from replay_events where replay_id = ${id} and event_id <= ${last.event_id}`)
  await tx.run(sql`
    update replays set skipped = skipped + ${next.length - marked}, last_event_id = ${last.event_id},
      skipped_reasons = ${JSON.stringify(reasons)}::jsonb
    where id = ${id}`)
  if (marked > 0) tx.afterCommit('due', [endpointId])
  return next.length
}

/** Deletes replays that ended as long ago as deliveries are kept. */
export const sweepReplays = (db: Db, before: Date) => db.run(sql`delete from replays where finished_at < ${before}`)
