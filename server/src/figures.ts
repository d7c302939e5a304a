import { statfs } from 'node:fs/promises'
import { appEventTypes, sessionStates } from '@baton/protocol'
import type { Context } from './context.ts'
import { counters, startAtZero } from './counters.ts'
import { sql } from './db/sql.ts'
import { readBacklog } from './delivery/backlog.ts'
import type { Metrics, Sample } from './http/metrics.ts'

/** Read again after this time, however often the metrics are asked for. */
const keptMs = 15_000
/** And after a read that took long, not before this many times as long: metrics must not be what loads a database. */
const restPerRead = 20
/** A database that does not answer must not delay the other metrics beyond a scrape. */
const answerWithinMs = 3_000
/** A longer statement is cut in the log. */
const longestStatement = 2_000

const endpointKinds = ['webhook', 'app', 'a2a']
const endpointStates = ['enabled', 'disabled', 'failing']
/** Sessions that are complete or ended by an error stay open for messages, and would be counted for ever. */
const sessionStatesAtWork = sessionStates.filter((state) => state !== 'complete' && state !== 'error')

/** What the gauges show of the database. */
interface Figures {
  deliveriesDue: number
  oldestDueSeconds: number
  endpoints: Sample[]
  sessions: Sample[]
  workPending: number
  oldestWorkSeconds: number
  oldestRunSeconds: number
  reviewsWaiting: number
  databaseBytes: number
  embeddedMemory: Sample[]
  clockSkewSeconds: number
}

/** Adds the gauges that ask the database and the process, and counts what the database does. */
export function watchService(ctx: Context, metrics: Metrics, service: { version: string; isStopping: () => boolean }) {
  startAtZero(['Issue', 'Comment', 'Project', ...appEventTypes, 'Ping', 'Test'])
  watchDatabase(ctx)
  const figures = new CachedFigures(ctx)
  const { db } = ctx
  const gauge = metrics.gauge.bind(metrics)
  const figure = (name: string, help: string, value: (figures: Figures) => number) =>
    gauge(name, help, [], async () => (await figures.read()).map((read) => ({ value: value(read) })))
  const figuresOf = (name: string, help: string, labels: string[], samples: (figures: Figures) => Sample[]) =>
    gauge(name, help, labels, async () => (await figures.read()).flatMap(samples))

  gauge('baton_build_info', 'Always 1; the labels describe what runs', ['version', 'database'], () => [
    { labels: { version: service.version, database: db.kind }, value: 1 },
  ])
  gauge('baton_ready', '1 if the process takes requests and its database answers', [], async () => [
    { value: !service.isStopping() && (await figures.read()).length > 0 ? 1 : 0 },
  ])
  figure('baton_deliveries_due', 'Deliveries that could be sent now', (read) => read.deliveriesDue)
  figure('baton_delivery_oldest_due_seconds', 'How long the oldest of them has waited', (read) => read.oldestDueSeconds)
  figuresOf('baton_endpoints', 'Endpoints of webhooks and agent apps', ['kind', 'state'], (read) => read.endpoints)
  figuresOf('baton_agent_sessions_open', 'Agent sessions at work', ['state'], (read) => read.sessions)
  figure('baton_agent_work_pending', 'Work that waits for agents inside the service', (read) => read.workPending)
  figure('baton_agent_work_oldest_seconds', 'How long the oldest of it has waited', (read) => read.oldestWorkSeconds)
  figure(
    'baton_automation_oldest_pending_seconds',
    'How long the oldest run of an automation has waited',
    (read) => read.oldestRunSeconds,
  )
  figure('baton_reviews_waiting', 'Reviews of the work of agents that wait for a person', (read) => read.reviewsWaiting)
  figure('baton_database_size_bytes', 'Size of the database', (read) => read.databaseBytes)
  figuresOf(
    'baton_embedded_database_memory_bytes',
    'Memory of the embedded database: objects of its thread, and the database itself',
    ['part'],
    (read) => read.embeddedMemory,
  )
  figure('baton_clock_skew_seconds', 'Clock of the database minus that of the process', (read) => read.clockSkewSeconds)
  gauge(
    'baton_database_connections',
    'Connections to the database, and requests that wait for one',
    ['pool', 'state'],
    () => db.connections().map(({ pool, state, count }) => ({ labels: { pool, state }, value: count })),
  )
  gauge('baton_data_disk_free_bytes', 'Free space for the embedded database, or else for files', [], () =>
    freeBytes(ctx),
  )
}

function watchDatabase({ db, log, config: { slowMs } }: Context) {
  db.onCommitted('recorded', (events) => {
    for (const event of events) counters.events.inc({ type: event.slice(0, event.indexOf(' ')) })
  })
  db.observe({
    waited: (ms) => counters.databaseWait.observe(ms / 1000),
    ran(text, ms) {
      if (slowMs === 0 || ms <= slowMs) return
      counters.slowStatements.inc()
      const statement = text.replace(/\s+/g, ' ').trim().slice(0, longestStatement)
      log.warn({ ms: Math.round(ms), statement }, 'slow statement')
    },
  })
}

/** Reads the figures at most once in 15 seconds. An array: empty while the database does not answer. */
class CachedFigures {
  readonly #ctx: Context
  #last: { at: number; restMs: number; read: Promise<Figures[]> } | undefined

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  read(): Promise<Figures[]> {
    const now = this.#ctx.clock.now().getTime()
    // A negative age: the clock was set back.
    const age = this.#last ? now - this.#last.at : -1
    if (this.#last && age >= 0 && age < this.#last.restMs) return this.#last.read
    const reading = readFigures(this.#ctx).then(
      (figures) => [figures],
      ({ message }: Error) => {
        this.#ctx.log.warn({ message }, 'could not read the figures of the database for the metrics')
        return []
      },
    )
    const last = { at: now, restMs: keptMs, read: within(reading, answerWithinMs) }
    this.#last = last
    void reading.then(() => {
      last.restMs = Math.max(keptMs, (this.#ctx.clock.now().getTime() - now) * restPerRead)
      last.read = reading
    })
    return last.read
  }
}

const within = (reading: Promise<Figures[]>, ms: number): Promise<Figures[]> =>
  Promise.race([reading, new Promise<Figures[]>((resolve) => setTimeout(resolve, ms, []).unref())])

/** Three statements, each of which counts over indexes. */
async function readFigures({ db, clock }: Context): Promise<Figures> {
  const now = clock.now()
  const secondsSince = (at: string | null) => (at ? Math.max(0, (now.getTime() - Date.parse(at)) / 1000) : 0)
  const backlog = await readBacklog(db, now)
  const counts = await db.rows<{ of: string; one: string; other: string; count: number; oldest: string | null }>(sql`
    select 'endpoint' as of, case when protocol = 'a2a' then 'a2a' when app_id is null then 'webhook' else 'app' end as one,
      state as other, count(*) as count, null::timestamptz as oldest
    from endpoints where deleted_at is null group by 2, 3
    union all
    select 'session', state, '', count(*), null from agent_sessions
    where ended_at is null and state = any(${sessionStatesAtWork}) group by state
    union all
    select 'work', '', '', count(*), min(created_at) from agent_work where lease_until is null or lease_until <= ${now}
    union all
    select 'run', '', '', 0, min(created_at) from automation_runs where state = 'pending'
    union all
    select 'review', '', '', count(*), null from reviews where state = 'waiting'`)
  const ofKind = (kind: string) => counts.filter(({ of }) => of === kind)
  const [work] = ofKind('work')
  const askedAt = clock.now().getTime()
  const server = await db.row<{ bytes: number; now: string }>(
    sql`select pg_database_size(current_database()) as bytes, clock_timestamp() as now`,
  )
  const answeredAt = clock.now().getTime()
  return {
    deliveriesDue: backlog.due,
    oldestDueSeconds: secondsSince(backlog.oldestAt),
    endpoints: endpointKinds.flatMap((kind) =>
      endpointStates.map((state) => ({
        labels: { kind, state },
        value: ofKind('endpoint').find(({ one, other }) => one === kind && other === state)?.count ?? 0,
      })),
    ),
    sessions: sessionStatesAtWork.map((state) => ({
      labels: { state },
      value: ofKind('session').find(({ one }) => one === state)?.count ?? 0,
    })),
    workPending: work?.count ?? 0,
    oldestWorkSeconds: secondsSince(work?.oldest ?? null),
    oldestRunSeconds: secondsSince(ofKind('run')[0]?.oldest ?? null),
    reviewsWaiting: ofKind('review')[0]?.count ?? 0,
    databaseBytes: server?.bytes ?? 0,
    embeddedMemory: Object.entries((await db.memory()) ?? {}).map(([part, value]) => ({ labels: { part }, value })),
    clockSkewSeconds: (Date.parse(server?.now ?? '') - (askedAt + answeredAt) / 2) / 1000,
  }
}

async function freeBytes({ config: { database, files } }: Context): Promise<Sample[]> {
  const dir = database.kind === 'embedded' ? database.dataDir : files?.kind === 'directory' ? files.path : null
  if (dir === null) return []
  return statfs(dir).then(
    ({ bavail, bsize }) => [{ value: bavail * bsize }],
    () => [],
  )
}
