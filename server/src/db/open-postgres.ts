import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ConfigError } from '../config.ts'
import { Db } from './database.ts'
import { findPrimary } from './hosts.ts'
import { connectPostgres } from './postgres.ts'
import { sql } from './sql.ts'

const oldestServer = 15
const secondsToWait = 30

/** Connects to PostgreSQL. Waits for a server that is still starting, because both are often started together. */
export async function openPostgres(
  url: string,
  onError: (error: Error) => void,
  print: (line: string) => void,
  /** What the operator gave the URL with. */
  setting = 'DATABASE_URL',
): Promise<Db> {
  const db = new Db(connectPostgres(url, onError), { guarded: false })
  for (let second = 0; ; second++) {
    try {
      const server = await db.row<{ version: number }>(
        sql`select current_setting('server_version_num')::int / 10000 as version`,
      )
      if (!server || server.version < oldestServer) {
        throw new ConfigError(
          `${setting} points to PostgreSQL ${server?.version}; version ${oldestServer} or later is required`,
        )
      }
      if (await sharesConnections(url)) {
        throw new ConfigError(
          `${setting} points to a pooler in transaction mode; use the address of the server, or session mode`,
        )
      }
      return db
    } catch (error) {
      if (error instanceof ConfigError || !isStarting(error) || second >= secondsToWait) {
        await db.close()
        throw error instanceof ConfigError ? error : new ConfigError(`${setting} cannot be used: ${reason(error)}`)
      }
      if (second === 0) print(`Waiting for the database: ${reason(error)}`)
      await sleep(1000)
    }
  }
}

/**
 * Detects a pooler in transaction mode: a setting made on one connection shows on another. Prepared statements and
 * LISTEN do not work there. It can miss one while the pooler is busy, but has no false positives.
 */
async function sharesConnections(url: string): Promise<boolean> {
  const connectionString = await findPrimary(url)
  const clients = [0, 1].map(() => new pg.Client({ connectionString, connectionTimeoutMillis: 10_000 }))
  const [one, other] = clients as [pg.Client, pg.Client]
  const mark = randomUUID()
  // Errors surface in the queries.
  for (const client of clients) client.on('error', () => {})
  try {
    for (const client of clients) await client.connect()
    await one.query(`select set_config('baton.mark', $1, false)`, [mark])
    const { rows } = await other.query(`select current_setting('baton.mark', true) as mark`)
    return rows[0]?.mark === mark
  } finally {
    for (const client of clients) await client.end().catch(() => {})
  }
}

const codeOf = (error: unknown) => String((error as { code?: unknown }).code)

/** ECONNREFUSED or no socket: not up yet; 57P03: starting; the others: restarting. */
const isStarting = (error: unknown) =>
  ['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', '57P01', '57P02', '57P03'].includes(codeOf(error)) ||
  (error as Error).message.startsWith('Connection terminated') ||
  (codeOf(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect')

const reason = (error: unknown) => (error as Error).message || codeOf(error)
