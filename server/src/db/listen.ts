import pg from 'pg'
import type { Listening } from './database.ts'
import { goodbye, keepAlive } from './link.ts'

const longestPauseMs = 5000
/** Nothing is ever asked of this connection, so it would not be noticed when it is silently gone. */
const asked = { everyMs: 15_000, answerWithinMs: 10_000 }

/** LISTEN needs a connection of its own, straight to the server: a transaction pooler would drop it. */
export function listen(
  url: string,
  channel: string,
  heard: (message: string) => void,
  onError: (error: Error) => void,
  { everyMs, answerWithinMs } = asked,
): Listening {
  let client: pg.Client | undefined
  let stopped = false
  let pauseMs = 100
  let timer: NodeJS.Timeout | undefined
  let asking: NodeJS.Timeout | undefined
  let announceReady = () => {}
  const ready = new Promise<void>((resolve) => {
    announceReady = resolve
  })

  async function connect() {
    const next = new pg.Client({
      connectionString: url,
      application_name: 'baton listener',
      connectionTimeoutMillis: 10_000,
      query_timeout: answerWithinMs,
      ...keepAlive,
    })
    client = next
    let lost = false
    const again = (error?: Error) => {
      if (lost || stopped) return
      lost = true
      clearInterval(asking)
      if (error) onError(error)
      next.end().catch(() => {})
      timer = setTimeout(connect, pauseMs)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
    next.on('error', again)
    next.on('end', () => again())
    next.on('notification', ({ payload }) => heard(payload ?? ''))
    try {
      await next.connect()
      const listens = () => next.query(`listen ${pg.escapeIdentifier(channel)}`)
      await listens()
      pauseMs = 100
      asking = setInterval(() => void listens().catch(again), everyMs)
      announceReady()
      heard('') // Whatever was said while nobody listened.
    } catch (error) {
      again(error as Error)
    }
  }

  void connect()
  return {
    ready,
    async stop() {
      stopped = true
      clearTimeout(timer)
      clearInterval(asking)
      await goodbye(client?.end().catch(() => {}))
    },
  }
}
