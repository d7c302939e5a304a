// Answers every POST at once, except below /black-hole; counts, and tells when requests arrived.
import { createServer } from 'node:http'

let count = 0
let arrivals = []

const server = createServer((request, response) => {
  const hole = request.url.startsWith('/black-hole')
  if (!hole) {
    count++
    const sentAt = request.headers['x-sent-at']
    if (sentAt) arrivals.push(Date.now() - Number(sentAt))
  }
  request.resume()
  if (!hole) request.on('end', () => response.end())
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

process.on('message', (what) => {
  if (what === 'count') process.send(count)
  if (what === 'reset') {
    count = 0
    arrivals = []
    process.send('done')
  }
})
process.on('disconnect', () => process.exit())
