import { randomInt } from 'node:crypto'
import pg from 'pg'
import type { Listening, OnLock } from './database.ts'
import type { Hosts } from './hosts.ts'
import { keepAlive, waitForClose } from './link.ts'
import { type Sql, sql } from './sql.ts'

interface ListenOptions {
  onLock?: OnLock | undefined
  everyMs?: number
  answerWithinMs?: number
}

/** Short, so that changes show soon after a failover. */
const maxReconnectDelayMs = 1000
/** This connection sends no queries, so without probes a silent loss would go unnoticed. */
const probes = { everyMs: 15_000, answerWithinMs: 10_000 }

/** The first key of the advisory locks that connections hold; the second one is random. */
const lockClass = 0x62_61_74_6e

/** LISTEN needs its own connection, directly to the server: a transaction pooler would drop it. */
export function listen(
  hosts: Hosts,
  channel: string,
  onMessage: (message: string) => void,
  onError: (error: Error) => void,
  { onLock, everyMs = probes.everyMs, answerWithinMs = probes.answerWithinMs }: ListenOptions = {},
): Listening {
  let client: pg.Client | undefined
  let stopped = false
  let delayMs = 100
  let reconnectTimer: NodeJS.Timeout | undefined
  let probeTimer: NodeJS.Timeout | undefined
  let markReady = () => {}
  const ready = new Promise<void>((resolve) => {
    markReady = resolve
  })

  function connectLater(error?: Error) {
    if (error) onError(error)
    reconnectTimer = setTimeout(connect, delayMs)
    delayMs = Math.min(delayMs * 2, maxReconnectDelayMs)
  }

  async function connect() {
    try {
      await hosts.available()
    } catch (error) {
      if (!stopped) connectLater(error as Error)
      return
    }
    if (stopped) return
    const next = new pg.Client({
      connectionString: hosts.url,
      application_name: 'baton listener',
      connectionTimeoutMillis: 10_000,
      query_timeout: answerWithinMs,
      ...keepAlive,
    })
    client = next
    let lost = false
    const reconnect = (error?: Error) => {
      if (lost || stopped) return
      lost = true
      stopFollowing()
      clearInterval(probeTimer)
      onLock?.(null)
      next.end().catch(() => {})
      hosts.suspect()
      connectLater(error)
    }
    const stopFollowing = hosts.onLeave(() => reconnect())
    next.on('error', reconnect)
    next.on('end', () => reconnect())
    next.on('notification', ({ payload }) => onMessage(payload ?? ''))
    try {
      await next.connect()
      // A server in recovery refuses LISTEN.
      const subscribe = () => next.query(`listen ${pg.escapeIdentifier(channel)}`)
      await subscribe()
      const lock = onLock && (await takeLock(next))
      if (lost) return
      delayMs = 100
      probeTimer = setInterval(() => void subscribe().catch(reconnect), everyMs)
      if (lock !== undefined) onLock?.(lock)
      markReady()
      onMessage('') // Messages sent while this was not connected were missed.
    } catch (error) {
      reconnect(error as Error)
    }
  }

  void connect()
  return {
    ready,
    async stop() {
      stopped = true
      clearTimeout(reconnectTimer)
      clearInterval(probeTimer)
      await waitForClose(client?.end().catch(() => {}))
    },
  }
}

/** A new key for each connection, because the server may not have noticed yet that the previous connection is lost. */
async function takeLock(client: pg.Client): Promise<number> {
  const lock = randomInt(2 ** 31)
  const { rows } = await client.query('select pg_try_advisory_lock($1, $2) as taken', [lockClass, lock])
  if (!rows[0]?.taken) throw new Error(`another connection holds the advisory lock ${lock}`)
  return lock
}

/** Whether any connection to this database holds the lock. */
export const isLockHeld = (lock: Sql) => sql`exists (
  select from pg_locks l join pg_database b on b.oid = l.database and b.datname = current_database()
  where l.locktype = 'advisory' and l.classid::bigint = ${lockClass} and l.objid::bigint = ${lock} and l.objsubid = 2)`
