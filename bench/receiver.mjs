// Answers every POST immediately, and counts them. With the argument `delays`, also measures how long each took since
// the time in its event.
import { createServer } from 'node:http'
import { percentile } from './setting.mjs'

const measuresDelays = process.argv[2] === 'delays'
let count = 0
let delays = []

const server = createServer((request, response) => {
  count++
  if (measuresDelays) measureDelay(request)
  request.resume().on('end', () => response.end())
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

process.on('message', (what) => {
  if (what === 'delays') {
    process.send({ count: delays.length, p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) })
    delays = []
    return
  }
  if (what === 'reset') count = 0
  process.send(count)
})
process.on('disconnect', () => process.exit())

/** From the transaction that recorded the event to the first byte of the request. */
function measureDelay(request) {
  const at = Date.now()
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => delays.push(at - Date.parse(JSON.parse(Buffer.concat(chunks)).created_at)))
}
