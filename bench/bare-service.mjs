// The floor: Fastify on the database of the environment, and streams that repeat each posted body.
import { join } from 'node:path'
import fastify from 'fastify'

const { PORT, DATABASE_URL, BATON_DATA_DIR } = process.env
const query = DATABASE_URL ? await openPostgres() : await openEmbedded()
await query('select 1')

const app = fastify()
const streams = new Set()
app.get('/readyz', async () => ({ ready: true }))
app.get('/live', (request, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  reply.raw.write(': hello\n\n')
  streams.add(reply.raw)
  request.raw.on('close', () => streams.delete(reply.raw))
})
await query('create table if not exists bench_posts (id bigserial primary key, body json)')
app.post('/posts', async ({ body }) => {
  await query('insert into bench_posts (body) values ($1)', [JSON.stringify(body)])
  const event = `event: change\ndata: ${JSON.stringify(body)}\n\n`
  for (const stream of streams) stream.write(event)
  return {}
})
await app.listen({ port: Number(PORT), host: '127.0.0.1' })

async function openPostgres() {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
  return (text, values) => pool.query(text, values)
}

async function openEmbedded() {
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ])
  const database = await PGlite.create({ dataDir: join(BATON_DATA_DIR, 'db'), extensions: { pg_trgm } })
  return (text, values) => database.query(text, values)
}
