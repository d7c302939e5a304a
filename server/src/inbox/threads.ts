import { type InboxThread, type InboxThreadChange, inboxLimits, type ThreadState } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { type HintSender, hintOfInbox, sendHints } from '../live/hint.ts'
import { transact } from '../unit-of-work.ts'
import { readEntries, subjectTables, subjectTitle, subjectUrl, subjectVisibleTo } from './entries.ts'

/** The subject of the entry `e`: comments and sessions belong to their issue or project. */
export const threadOfEntry = sql`coalesce(e.issue_id, e.project_id, e.endpoint_id, e.app_id, e.automation_id, e.team_id)`

/** The entry `e` belongs to the thread `t`. */
const inThread = sql`e.workspace_id = t.workspace_id and e.user_id = t.user_id and ${threadOfEntry} = t.subject_id`

/** The thread of the entry `e` is archived or snoozed. */
export const isPutAway = (now: Date) => sql`exists (
  select from inbox_threads t where ${inThread} and (t.archived_at is not null or t.snoozed_until > ${now}))`

type Row = Omit<InboxThread, 'latest'> & { latestId: string; movedAt: string; place: string }

/** A snooze ends at its time without a write: it was placed in the list at that time when it began. */
const inState: Record<ThreadState, (now: Date) => Sql> = {
  open: (now) => sql`t.archived_at is null and (t.snoozed_until is null or t.snoozed_until <= ${now})`,
  // By `moved_at` too, which the index has.
  snoozed: (now) => sql`t.archived_at is null and t.snoozed_until > ${now} and t.moved_at > ${now}`,
  archived: () => sql`t.archived_at is not null`,
}

export async function listThreads(
  ctx: Context,
  caller: Member,
  query: PageQuery & { state?: ThreadState; unread?: boolean },
) {
  const { state = 'open', unread } = query
  const isUnread = sql`exists (select from inbox_entries e where ${inThread} and e.read_at is null)`
  const { data, next_cursor } = await page<Row>(
    ctx.keys,
    `inbox threads ${state}`,
    query,
    ({ movedAt, place }) => [movedAt, place],
    (after, count) =>
      readRows(
        ctx,
        caller,
        sql`
          and ${inState[state](ctx.clock.now())}
          ${unread === undefined ? none : unread ? sql`and ${isUnread}` : sql`and not ${isUnread}`}
          ${after ? sql`and (t.moved_at, t.latest_id) < (${after[0]}::timestamptz, ${after[1]})` : none}
          order by t.moved_at desc, t.latest_id desc limit ${count}`,
      ),
  )
  return { data: await withLatest(ctx, caller, data), next_cursor }
}

const readRows = ({ db, config, clock }: Context, caller: Member, rest: Sql) =>
  db.rows<Row>(sql`
    select t.subject_id, ${subjectTitle} as title, ${subjectUrl(config)} as url, s.count, s.unread_count, s.kinds,
      case when t.snoozed_until > ${clock.now()} then t.snoozed_until end as snoozed_until, t.archived_at,
      s."latestId", t.moved_at as "movedAt", t.latest_id as place
    from inbox_threads t ${subjectTables(sql`t`)}
    join lateral (
      select count(*)::int as count, count(*) filter (where e.read_at is null)::int as unread_count,
        array_agg(distinct e.kind) as kinds, max(e.id) as "latestId"
      from inbox_entries e where ${inThread}
    ) s on s.count > 0
    where t.workspace_id = ${caller.workspaceId} and t.user_id = ${caller.id} and ${subjectVisibleTo(caller)} ${rest}`)

async function withLatest({ db, config }: Context, caller: Member, rows: Row[]): Promise<InboxThread[]> {
  const ids = rows.map(({ latestId }) => latestId)
  const entries = ids.length > 0 ? await readEntries(db, config, caller, sql`and e.id = any(${ids})`) : []
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  return rows.flatMap(({ latestId, movedAt: _, place: __, ...thread }) => {
    // Missing if it was deleted between the two reads.
    const latest = byId.get(latestId)
    return latest ? [{ ...thread, latest }] : []
  })
}

async function readThread(ctx: Context, caller: Member, subjectId: string): Promise<InboxThread> {
  const rows = await readRows(ctx, caller, sql`and t.subject_id = ${subjectId}`)
  return found((await withLatest(ctx, caller, rows))[0])
}

export async function changeThread(ctx: Context, caller: Member, subjectId: string, change: InboxThreadChange) {
  const { read, archived, snoozed_until } = change
  await readThread(ctx, caller, subjectId)
  await transact(ctx, caller, async ({ tx, now }) => {
    if (snoozed_until) checkSnooze(new Date(snoozed_until), archived, now)
    // The same order as a new entry, which locks its thread.
    if (archived !== undefined || snoozed_until !== undefined) {
      await tx.run(sql`
        update inbox_threads t set ${placed(change, now)} where ${ofCaller(caller)} and t.subject_id = ${subjectId}`)
    }
    const entries = sql`e.workspace_id = ${caller.workspaceId} and e.user_id = ${caller.id}
      and ${threadOfEntry} = ${subjectId}`
    if (archived || read) {
      await tx.run(sql`update inbox_entries e set read_at = ${now} where ${entries} and e.read_at is null`)
    } else if (read === false) {
      await tx.run(sql`
        update inbox_entries set read_at = null where id = (select max(e.id) from inbox_entries e where ${entries})`)
    }
    changed(tx, caller)
  })
  return readThread(ctx, caller, subjectId)
}

function checkSnooze(until: Date, archived: boolean | undefined, now: Date) {
  if (archived) throw invalid({ snoozed_until: 'must be null or left out when the thread is archived' })
  if (until <= now) throw invalid({ snoozed_until: 'must be in the future' })
  if (until > plus(now, days(inboxLimits.snoozeDays))) {
    throw invalid({ snoozed_until: `must be at most ${inboxLimits.snoozeDays} days ahead` })
  }
}

/** An archived thread is not snoozed, and the reverse. One that is no longer snoozed returns to its place. */
function placed({ archived, snoozed_until }: InboxThreadChange, now: Date): Sql {
  const until = snoozed_until ? new Date(snoozed_until) : null
  if (until) return sql`archived_at = null, snoozed_until = ${until}, moved_at = ${until}`
  const endsSnooze = archived || snoozed_until === null
  const place = sql`case when t.snoozed_until > ${now} then coalesce((
    select e.created_at from inbox_entries e where ${inThread} order by e.id desc limit 1), t.moved_at)
    else t.moved_at end`
  return sql`
    archived_at = ${archived === undefined ? sql`t.archived_at` : archived ? sql`coalesce(t.archived_at, ${now})` : sql`null`}
    ${endsSnooze ? sql`, snoozed_until = null, moved_at = ${place}` : none}`
}

/** Archives the open threads whose entries are all read. */
export async function archiveReadThreads({ db, clock }: Context, caller: Member) {
  const now = clock.now()
  const archived = await db.run(sql`
    update inbox_threads t set archived_at = ${now}, snoozed_until = null
    where ${ofCaller(caller)} and ${inState.open(now)}
      and not exists (select from inbox_entries e where ${inThread} and e.read_at is null)`)
  if (archived > 0) changed(db, caller)
}

/** Tells the browsers of users whose snoozes ended. The list does not depend on it. */
export async function endSnoozes(db: Queryable & HintSender, now: Date) {
  const ended = await db.rows<{ workspaceId: string; userId: string }>(sql`
    update inbox_threads set snoozed_until = null where snoozed_until <= ${now}
    returning workspace_id as "workspaceId", user_id as "userId"`)
  sendHints(
    db,
    ended.map(({ workspaceId, userId }) => hintOfInbox(workspaceId, userId)),
  )
}

const ofCaller = ({ workspaceId, id }: Member) => sql`t.workspace_id = ${workspaceId} and t.user_id = ${id}`

const changed = (sender: HintSender, { workspaceId, id }: Member) => sendHints(sender, [hintOfInbox(workspaceId, id)])
