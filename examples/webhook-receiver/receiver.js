// Receives a workspace webhook: verifies deliveries, answers at once, and processes each event once, in any order.
import { createServer } from 'node:http'
import { eventIdOf, verifyWebhook } from '@baton/sdk/webhooks'

const { WEBHOOK_SECRET = '', PORT = '4000' } = process.env
if (!WEBHOOK_SECRET) throw new Error('WEBHOOK_SECRET is missing. Run `npm run setup`, which writes it to .env.')
const maxBodyBytes = 8 * 1024 * 1024

/** In memory; a receiver whose work must survive a restart keeps both in a database. */
const seen = new Set()
const newest = new Map()

function receive(rawBody, headers) {
  const verified = verifyWebhook({ rawBody, headers, secret: WEBHOOK_SECRET })
  // 200 for an unknown event type, because a retry would not help.
  if (!verified.ok) return verified.reason === 'unknown_event' ? 200 : 401
  const { event } = verified
  const id = eventIdOf(event)
  if (!seen.has(id)) {
    seen.add(id)
    // Answer before working: the service waits five seconds.
    setImmediate(work, event)
  }
  return 200
}

function work({ type, action, data }) {
  if (type === 'Ping') return console.log('Ping')
  // Deliveries arrive out of order: ignore one that is not newer than the latest.
  if (data.updated_at <= (newest.get(data.id) ?? '')) return
  newest.set(data.id, data.updated_at)
  const what = type === 'Issue' ? `${data.code} ${data.title} (${data.status})` : data.text
  console.log(`${type} ${action}: ${what}`)
}

async function bodyOf(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

createServer(async (request, response) => {
  const rawBody = await bodyOf(request).catch(() => null)
  response.writeHead(rawBody ? receive(rawBody, request.headers) : 413, { connection: 'close' }).end()
}).listen(Number(PORT), () => console.log(`Listening on http://localhost:${PORT}/`))
