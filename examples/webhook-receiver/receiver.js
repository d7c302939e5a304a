// Receives a workspace webhook: verifies it, answers at once, and does each thing once, whatever order it comes in.
import { createServer } from 'node:http'
import { eventIdOf, verifyWebhook } from '@baton/sdk/webhooks'

const { WEBHOOK_SECRET = '', PORT = '4000' } = process.env
if (!WEBHOOK_SECRET) throw new Error('WEBHOOK_SECRET is missing: `npm run setup` writes it to .env.')
const largestBody = 8 * 1024 * 1024

/** A receiver with work that must not be lost keeps both in its database. */
const seen = new Set()
const newest = new Map()

function receive(rawBody, headers) {
  const verified = verifyWebhook({ rawBody, headers, secret: WEBHOOK_SECRET })
  // A type that this version does not know yet is no reason to have it sent again.
  if (!verified.ok) return verified.reason === 'unknown_event' ? 200 : 401
  const { event } = verified
  const id = eventIdOf(event)
  if (!seen.has(id)) {
    seen.add(id)
    // The sender waits five seconds for an answer; work begins after it.
    setImmediate(work, event)
  }
  return 200
}

function work({ type, action, data }) {
  if (type === 'Ping') return console.log('Ping')
  // Deliveries overtake each other: what is not newer than what we have is old news.
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
    if (size > largestBody) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

createServer(async (request, response) => {
  const rawBody = await bodyOf(request).catch(() => null)
  response.writeHead(rawBody ? receive(rawBody, request.headers) : 413, { connection: 'close' }).end()
}).listen(Number(PORT), () => console.log(`Listening on http://localhost:${PORT}/`))
