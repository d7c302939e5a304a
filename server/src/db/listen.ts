import pg from 'pg'
import type { Listening } from './database.ts'
import { keepAlive, waitForClose } from './link.ts'

const maxReconnectDelayMs = 5000
/** This connection sends no queries, so without probes a silent loss would go unnoticed. */
const probes = { everyMs: 15_000, answerWithinMs: 10_000 }

/** LISTEN needs its own connection, directly to the server: a transaction pooler would drop it. */
export function listen(
  url: string,
  channel: string,
  onMessage: (message: string) => void,
  onError: (error: Error) => void,
  { everyMs, answerWithinMs } = probes,
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
    const reconnect = (error?: Error) => {
      if (lost || stopped) return
      lost = true
      clearInterval(probeTimer)
      if (error) onError(error)
      next.end().catch(() => {})
      reconnectTimer = setTimeout(connect, delayMs)
      delayMs = Math.min(delayMs * 2, maxReconnectDelayMs)
    }
    next.on('error', reconnect)
    next.on('end', () => reconnect())
    next.on('notification', ({ payload }) => onMessage(payload ?? ''))
    try {
      await next.connect()
      const subscribe = () => next.query(`listen ${pg.escapeIdentifier(channel)}`)
      await subscribe()
      delayMs = 100
      probeTimer = setInterval(() => void subscribe().catch(reconnect), everyMs)
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
