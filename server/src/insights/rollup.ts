import { limits } from '@baton/protocol'
import { hours, minutes, plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import { AgentDays, countSessions, type SessionPosition, writeAgentDays } from './agent-days.ts'
import { CycleDays, cyclesSince, issuesOfCycle, writeCycleDays } from './cycle-days.ts'
import { type Day, dayOf, earlier, later, plusDays, startOf } from './days.ts'
import { countDone, countOpen, type DonePosition, doneSince, FlowDays, writeFlowDays } from './flow-days.ts'

/** A session's outcome is final after this many days. */
const agentDaysRewritten = 15
const flowDaysRewritten = 2
/** Workers look this often for a workspace whose figures are older than `dueMs`: together below 10 minutes (insight.as-of). */
const everyMs = 20_000
const dueMs = minutes(8)
/** A workspace that is new has little to count, and people who look at it for the first time. */
const newForMs = hours(1)
const dueWhenNewMs = minutes(1)
const claimMs = minutes(2)
/** A step reads at most this many rows, so that it does not hold the embedded database for long. */
const rowsPerStep = 20_000
/** Rows of figures that one transaction writes, unless a day alone has more. */
const rowsPerWrite = 1000

export interface RollupOptions {
  signal?: AbortSignal
  rowsPerStep?: number
}

/** Counts the figures of every workspace that is due, one after the other. Any number of workers may run it. */
export async function rollUpDue(ctx: Context, options: RollupOptions = {}): Promise<number> {
  await ctx.db.run(sql`
    insert into insight_progress (workspace_id)
    select id from workspaces w
    where w.purged_since is null and not exists (select from insight_progress p where p.workspace_id = w.id)
    on conflict do nothing`)
  let done = 0
  for (let claim = await claimNext(ctx); claim; claim = await claimNext(ctx)) {
    const { workspaceId } = claim
    try {
      await rollUp(ctx, claim, options)
      done++
    } catch (error) {
      if (options.signal?.aborted) throw error
      // The claim expires, and then the workspace is tried again.
      ctx.log.warn({ workspace: workspaceId, message: (error as Error).message }, 'could not count insights; retrying')
    }
  }
  return done
}

export function startInsights(ctx: Context): () => Promise<void> {
  const stopping = new AbortController()
  const stop = repeat(
    ctx.clock,
    everyMs,
    () => rollUpDue(ctx, { signal: stopping.signal }),
    ({ message }) => {
      if (!stopping.signal.aborted) ctx.log.warn({ message }, 'could not count insights; retrying')
    },
  )
  return () => {
    stopping.abort()
    return stop()
  }
}

/** For an import: its issues are older than the days that are counted again. */
export const refillInsights = (tx: Queryable, workspaceId: string, now: Date) =>
  tx.run(sql`update insight_progress set refill_at = ${now} where workspace_id = ${workspaceId}`)

interface Claim {
  workspaceId: string
  claimId: string
  asOf: string | null
  refillAt: string | null
}

const claimNext = ({ db, clock }: Context): Promise<Claim | undefined> => {
  const now = clock.now()
  return db.row<Claim>(sql`
    update insight_progress set claim_id = ${newId('wrk')}, claimed_until = ${plus(now, claimMs)}
    where workspace_id = (
      select p.workspace_id from insight_progress p join workspaces w on w.id = p.workspace_id
      where w.purged_since is null and (p.as_of is null or p.as_of > ${now} or p.as_of <= case
          when w.created_at > ${plus(now, -newForMs)} then ${plus(now, -dueWhenNewMs)}::timestamptz
          else ${plus(now, -dueMs)}::timestamptz end)
        and (p.claimed_until is null or p.claimed_until <= ${now})
      order by p.as_of nulls first, p.workspace_id limit 1 for update of p skip locked)
    returning workspace_id as "workspaceId", claim_id as "claimId", as_of as "asOf",
      refill_at as "refillAt"`)
}

/** Counts a workspace. A kill leaves its days as they were before or after, each as a whole; another worker repeats all. */
async function rollUp(ctx: Context, claim: Claim, { signal, rowsPerStep: rows = rowsPerStep }: RollupOptions) {
  const { db, clock, config } = ctx
  const { workspaceId } = claim
  const now = clock.now()
  const today = dayOf(now)
  const yearAgo = plusDays(today, 1 - limits.insightDays)
  const since = (rewritten: number) =>
    claim.asOf ? earlier(dayOf(claim.asOf), plusDays(today, 1 - rewritten)) : yearAgo

  const write = (work: (tx: Tx) => Promise<unknown>) => {
    signal?.throwIfAborted()
    return db.tx(async (tx) => {
      await holdClaim(tx, claim, plus(clock.now(), claimMs))
      await work(tx)
    })
  }

  // The figures of sessions that were deleted since stay (settings.retention-sessions).
  const { sessions: keptDays } = config.keepDays
  const firstOfAgents = since(agentDaysRewritten)
  let from = keptDays > 0 ? later(firstOfAgents, plusDays(today, 1 - keptDays)) : firstOfAgents
  const agents = new AgentDays(now, config)
  const writeAgents = async (until: Day) => {
    const counted = agents.take(until)
    await write((tx) => writeAgentDays(tx, workspaceId, from, until, counted))
    from = until
  }
  let at: SessionPosition | null = { at: startOf(from).toISOString(), id: '' }
  while (at) {
    signal?.throwIfAborted()
    at = await countSessions(db, workspaceId, at, rows, agents)
    // The day of the next session is not complete.
    if (at && agents.size >= rowsPerWrite && dayOf(at.at) > from) await writeAgents(dayOf(at.at))
  }
  await writeAgents(plusDays(today, 1))

  const firstOfFlow = claim.refillAt ? yearAgo : since(flowDaysRewritten)
  const flow = new FlowDays(firstOfFlow, today)
  for (let after: string | null = ''; after !== null; ) {
    signal?.throwIfAborted()
    after = await countOpen(db, workspaceId, after, rows, flow)
  }
  for (let after: DonePosition | null = doneSince(firstOfFlow); after; ) {
    signal?.throwIfAborted()
    after = await countDone(db, workspaceId, after, rows, flow)
  }
  for (const part of partsOf(flow.rows(), firstOfFlow, plusDays(today, 1))) {
    await write((tx) => writeFlowDays(tx, workspaceId, part.from, part.until, part.rows))
  }

  for (const cycle of await cyclesSince(db, workspaceId, firstOfFlow, today)) {
    const days = new CycleDays(cycle)
    const most = Math.max(1, Math.floor(rows / 10))
    for (let after: string | null = ''; after !== null; ) {
      signal?.throwIfAborted()
      const issues = await issuesOfCycle(db, workspaceId, cycle.id, after, most)
      for (const issue of issues) days.add(issue)
      after = issues.length === most ? (issues.at(-1)?.id ?? null) : null
    }
    await write((tx) => writeCycleDays(tx, workspaceId, cycle.id, days.rows))
  }

  await db.run(sql`
    update insight_progress set as_of = ${now}, claim_id = null, claimed_until = null,
      -- An import that ended meanwhile is counted the next time.
      refill_at = case when refill_at is distinct from ${claim.refillAt}::timestamptz then refill_at end
    where workspace_id = ${workspaceId} and claim_id = ${claim.claimId}`)
}

/** Throws if another worker has taken the workspace over, whose figures are newer. */
async function holdClaim(tx: Tx, { workspaceId, claimId }: Claim, until: Date) {
  const held = await tx.run(sql`
    update insight_progress set claimed_until = ${until} where workspace_id = ${workspaceId} and claim_id = ${claimId}`)
  if (held === 0) throw new Error('another worker counts this workspace')
}

/** Rows that are ordered by day, in parts of whole days. */
export function* partsOf<Row extends { day: Day }>(rows: readonly Row[], first: Day, until: Day, most = rowsPerWrite) {
  let [from, begin] = [first, 0]
  for (const [index, { day }] of rows.entries()) {
    if (index - begin < most || day === rows[index - 1]?.day) continue
    yield { from, until: day, rows: rows.slice(begin, index) }
    ;[from, begin] = [day, index]
  }
  yield { from, until, rows: rows.slice(begin) }
}
