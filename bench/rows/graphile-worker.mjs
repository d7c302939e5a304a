// The same deliveries as jobs of graphile-worker, which deletes a job when it is done.
import { against, jobs, loadPeer, missingPackages } from '../peers.mjs'
import { concurrency, timeDrain } from './deliveries-drained.mjs'

export const rows = [
  {
    name: 'deliveries drained, against graphile-worker',
    unit: 'a second',
    better: 'more',
    floorIs: 'graphile-worker of the same concurrency on the same PostgreSQL, with its local queue',
  },
]

export const databases = ['postgres']

export const missing = missingPackages

export const run = (setting) => against(setting, drainJobs)

async function drainJobs({ db, sql, where }, receiver, post) {
  const { Logger, makeWorkerUtils, run: start } = await loadPeer('graphile-worker')
  const options = {
    connectionString: where,
    logger: new Logger(() => () => {}),
    // As its documentation advises for throughput: jobs are taken, and marked as done, many at a time.
    preset: {
      worker: {
        concurrentJobs: concurrency,
        maxPoolSize: 20,
        localQueue: { size: 2 * concurrency },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    noHandleSignals: true,
  }
  const utils = await makeWorkerUtils(options)
  await utils.migrate()
  for (const some of jobs()) await utils.addJobs(some.map((payload) => ({ identifier: 'deliver', payload })))
  await utils.release()
  let runner
  const perSecond = await timeDrain(
    receiver,
    async () => {
      runner = await start({ ...options, taskList: { deliver: post } })
    },
    () => db.row(sql`select 1 from graphile_worker.jobs limit 1`),
  )
  await runner.stop()
  return perSecond
}
