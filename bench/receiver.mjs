// Answers every POST immediately, and counts them.
import { createServer } from 'node:http'

let count = 0

const server = createServer((request, response) => {
  count++
  request.resume().on('end', () => response.end())
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

process.on('message', (what) => {
  if (what === 'reset') count = 0
  process.send(count)
})
process.on('disconnect', () => process.exit())
