import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createApp } from '../src/app.ts'
import type { Context } from '../src/context.ts'
import { Db } from '../src/db/database.ts'
import { connectPostgres } from '../src/db/postgres.ts'
import { sql } from '../src/db/sql.ts'
import { Relay } from '../src/relay/relay.ts'
import type { TestApp } from './harness.ts'
import { withDatabase } from './template.ts'

/** Another process's worth of service over the PostgreSQL database of `app`, until the test is over. */
export async function anotherNode(app: TestApp) {
  const [database] = await app.ctx.db.rows<{ name: string }>(sql`select current_database() as name`)
  const db = new Db(connectPostgres(withDatabase(process.env.DATABASE_URL as string, database?.name ?? ''), () => {}))
  const relay = new Relay(db, app.clock, app.ctx.log)
  const ctx: Context = { ...app.ctx, db, relay }
  const { http, door } = await createApp(ctx, { stopping: false })
  await http.listen({ host: '127.0.0.1', port: 0 })
  const stop = async () => {
    await http.close()
    await relay.stop()
    await db.close()
  }
  onTestFinished(stop)
  return { ctx, door, stop, rootUrl: `http://127.0.0.1:${(http.server.address() as AddressInfo).port}` }
}
