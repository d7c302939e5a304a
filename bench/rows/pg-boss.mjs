// The same deliveries as jobs of pg-boss, which keeps a job as completed when it is done.
import { against, jobs, loadPeer, missingPackages } from '../peers.mjs'
import { concurrency, timeDrain } from './deliveries-drained.mjs'

const queue = 'deliveries'
/** As many as Baton claims at a time. */
const batchSize = 64

export const rows = [
  {
    name: 'deliveries drained, against pg-boss',
    unit: 'a second',
    better: 'more',
    floorIs: 'pg-boss of the same concurrency on the same PostgreSQL, 64 jobs at a time',
  },
]

export const databases = ['postgres']

export const missing = missingPackages

export const run = (setting) => against(setting, drainJobs)

async function drainJobs({ db, sql, where }, receiver, post) {
  const PgBoss = await loadPeer('pg-boss')
  const boss = new PgBoss({ connectionString: where, max: 20 })
  await boss.start()
  await boss.createQueue(queue)
  for (const some of jobs()) await boss.insert(some.map((data) => ({ name: queue, data })))
  // Its own workers pause for half a second after each batch, so its jobs are fetched and completed here.
  const loop = async () => {
    for (let batch = await boss.fetch(queue, { batchSize }); batch.length > 0; ) {
      await Promise.all(batch.map(({ data }) => post(data)))
      await boss.complete(
        queue,
        batch.map(({ id }) => id),
      )
      batch = await boss.fetch(queue, { batchSize })
    }
  }
  let loops
  const perSecond = await timeDrain(
    receiver,
    () => {
      loops = Promise.all(Array.from({ length: concurrency / batchSize }, loop))
    },
    () => db.row(sql`select 1 from pgboss.job where name = ${queue} and state < 'completed' limit 1`),
  )
  await loops
  await boss.stop({ graceful: false })
  return perSecond
}
