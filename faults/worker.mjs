// A worker like the service's that kills itself at a chosen point.

import { systemClock } from '../server/dist/clock.js'
import { readConfig } from '../server/dist/config.js'
import { Keyring } from '../server/dist/crypto.js'
import { openPostgres } from '../server/dist/db/open-postgres.js'
import { EndpointWaker } from '../server/dist/delivery/endpoint-waker.js'
import { DeliveryWorker } from '../server/dist/delivery/worker.js'
import { createLog } from '../server/dist/log.js'
import { GuardedClient } from '../server/dist/outbound/client.js'
import { Relay } from '../server/dist/relay/relay.js'

const log = createLog('warn')
const clock = systemClock
const config = readConfig(process.env)
const db = await openPostgres(
  config.database.url,
  ({ message }) => log.warn({ message }, 'a connection was lost'),
  console.log,
)
const outbound = new GuardedClient({ allow: config.webhookAllow, clock })
const keys = new Keyring(config.secretKey, config.previousSecretKeys)
const relay = new Relay(db, clock, log)
const ctx = { config, clock, keys, log, db, outbound, relay }

let killPoint
/** Requests in flight; while there are any, the batch is not complete. */
let unanswered = 0

const reached = (point) => {
  if (point === killPoint) process.kill(process.pid, 'SIGKILL')
}

const worker = new DeliveryWorker(ctx, new EndpointWaker(db, clock, log), {
  claimed(deliveries) {
    reached('after claim')
    unanswered += deliveries.length
  },
  attempted() {
    unanswered--
    reached('after send')
    if (unanswered > 0) reached('mid-batch')
  },
  completing: () => reached('before completion'),
  completed: () => reached('after completion'),
})
worker.start()

process.on('message', (point) => {
  killPoint = point
})
process.on('disconnect', () => process.exit())
process.send('ready')
