// Kills processes, crashes the database and cuts connections while issues are created, then checks every delivery.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { duplicatesOf, problemsOf } from '../check.mjs'
import { FaultInjector, planOf } from '../fault-injector.mjs'
import { Journal, Service, StagedWorker, stopAll } from '../processes.mjs'
import { Random } from '../random.mjs'
import { Sink } from '../sink.mjs'
import { Tracker } from '../tracker.mjs'

/** Enough that a dead worker's claims do not block all endpoints. */
const webhooks = 64
const retryDelaysMs = [1000, 2000, 3000]
/** A lease takes 15 seconds; some deliveries are claimed again by a worker that is killed too. */
const settledWithinMs = 120_000

export const storm = {
  name: 'storm',
  summary: 'dozens of kills of workers, API and database, at random and at chosen points',
  withinMs: 300_000,
  run,
}

async function run({ url, database, options: { kills, deliveries, seed } }) {
  console.log(`  ${kills} kills over ${deliveries} deliveries, seed ${seed}`)
  const started = Date.now()
  const journal = new Journal()
  const sink = await Sink.start()
  const random = new Random(seed)
  let progress
  let tracker
  try {
    const scene = await startScene(url, database, journal)
    tracker = scene.tracker
    const injector = new FaultInjector(scene, random)
    progress = reportProgress(started, injector, tracker, sink)
    await openWebhooks(tracker, sink)
    await injectAndSettle(scene, injector, planOf(kills, random), deliveries)
    clearInterval(progress)
    return report(await gather(tracker, sink), injector, journal, tracker, Date.now() - started)
  } finally {
    clearInterval(progress)
    tracker?.stop()
    stopAll()
    sink.stop()
  }
}

async function startScene(url, database, journal) {
  const env = {
    DATABASE_URL: url,
    BATON_SECRET_KEY: randomBytes(32).toString('base64'),
    BATON_DEMO: '0',
    BATON_WEBHOOK_ALLOW: '127.0.0.1',
    BATON_RETRY_DELAYS: retryDelaysMs.map((ms) => ms / 1000).join(),
    BATON_API_RATE: '1000000',
    BATON_WEBHOOK_LIMIT: String(webhooks),
  }
  const apis = [await Service.start('api', 1, journal, env), await Service.start('api', 2, journal, env)]
  for (const api of apis) await api.untilReady()
  const stagedWorker = new StagedWorker(2, journal, env)
  const workers = [await Service.start('worker', 1, journal, env), stagedWorker]
  return { database, apis, workers, stagedWorker, processes: [...apis, ...workers], tracker: new Tracker(apis) }
}

async function openWebhooks(tracker, sink) {
  const paths = Array.from({ length: webhooks }, (_, index) => `/hook/${index}`)
  const opened = await tracker.setUp(paths.map((path) => sink.urlOf(path)))
  for (const [index, webhook] of opened.entries()) sink.expect(paths[index], webhook)
}

async function injectAndSettle({ tracker, processes }, injector, plan, deliveries) {
  tracker.startPosting()
  await injector.run(plan, Math.ceil(deliveries / webhooks / plan.length))
  await tracker.finishPosting()
  for (const process of processes) await process.untilReady()
  const deadline = Date.now() + settledWithinMs
  while ((await tracker.hasPending()) && Date.now() < deadline) await sleep(500)
}

function reportProgress(started, injector, tracker, sink) {
  return setInterval(() => {
    const seconds = String(Math.round((Date.now() - started) / 1000)).padStart(4)
    const made = tracker.acknowledged.length * webhooks
    console.log(
      `  ${seconds} s: ${injector.kills} kills, ${made} deliveries, ${sink.requests.length} requests at the sink`,
    )
  }, 5000)
}

async function gather(tracker, sink) {
  const { acknowledged, webhookIds } = tracker
  const found = await Promise.all(
    webhookIds.map(async (webhookId) =>
      (await tracker.list(`/webhooks/${webhookId}/deliveries`)).map((delivery) => ({ ...delivery, webhookId })),
    ),
  )
  const issueIds = (await tracker.list('/issues')).map(({ id }) => id)
  return { acknowledged, issueIds, webhookIds, deliveries: found.flat(), requests: sink.requests, retryDelaysMs }
}

/** Prints the figures and returns the problems. */
function report(evidence, injector, journal, { unacknowledged }, tookMs) {
  const { acknowledged, issueIds, deliveries, requests } = evidence
  const crashes = journal.unexpectedEnds.filter(({ wasReady }) => wasReady)
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  const figures = {
    kills: injector.kills,
    ...Object.fromEntries([...injector.done].sort()),
    'failed starts': journal.unexpectedEnds.length - crashes.length,
    'issues acknowledged': acknowledged.length,
    'posts without an answer': unacknowledged.length,
    ...tally(unacknowledged, (reason) => `  ${reason}`),
    '  of these, created': issueIds.length - acknowledged.length,
    deliveries: deliveries.length,
    ...tally(deliveries, ({ status, attempts: { length } }) => `  ${status} after ${length}`),
    'attempts recorded': attempts.length,
    ...tally(attempts, ({ reason }) => `  ${reason ?? 'ok'}`),
    'requests at the sink': requests.length,
    'duplicates at the sink': duplicatesOf(evidence),
    seconds: Math.round(tookMs / 1000),
  }
  console.log()
  for (const [name, figure] of Object.entries(figures)) console.log(`${name.padEnd(42)}${String(figure).padStart(8)}`)
  for (const [text, times] of journal.errors) console.log(`logged as an error ${times} times: ${text}`)
  for (const { text } of journal.unexpectedEnds) console.log(text)

  return {
    problems: [...problemsOf(evidence), ...crashes.map(({ text }) => text)],
    notes: `${injector.kills} kills, ${deliveries.length} deliveries, ${duplicatesOf(evidence)} repeated requests`,
  }
}

function tally(items, nameOf) {
  const counts = {}
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1
  return Object.fromEntries(Object.entries(counts).sort())
}
