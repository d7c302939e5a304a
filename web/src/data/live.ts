import { createStore, useStore } from '../ui/store.ts'
import { type Connection, longestPauseMs, type News, pause } from './live-news.ts'

/**
 * Changes made elsewhere, with one stream for all tabs of a browser. The tab that holds the lock has the stream and
 * broadcasts what it receives; when that tab is closed, another takes over.
 */
const watchers = new Set<(news: News) => void>()
const connection = createStore<Connection>('connecting')

/** Calls `watcher` for each message from now on. Returns a function that stops it. */
export function watch(watcher: (news: News) => void): () => void {
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
  }
}

export const useConnection = () => useStore(connection)

let resolveConnected = () => {}
const connected = new Promise<void>((resolve) => {
  resolveConnected = resolve
})
/** Resolves when the stream is open, or after `atMostMs`. Long reads wait for it, so that they miss no change. */
export const whenConnected = (atMostMs: number) => Promise.race([connected, pause(atMostMs)])

function setConnection(next: Connection) {
  if (next === connection.get()) return
  if (next === 'open') resolveConnected()
  connection.set(next)
}

type Message = { news: News } | { connection: Connection } | { ask: true }

/** Starts the stream of a workspace. Call it once per page load. */
export function goLive(workspaceId: string) {
  const channel = new BroadcastChannel(`baton.live.${workspaceId}`)
  const notify = (news: News) => {
    for (const watcher of watchers) watcher(news)
  }
  let leads = false
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ('news' in data) notify(data.news)
    else if ('connection' in data) setConnection(data.connection)
    else if (leads) channel.postMessage({ connection: connection.get() } satisfies Message)
  }
  channel.postMessage({ ask: true } satisfies Message)
  const lead = async (takesOver: boolean) => {
    leads = true
    const { stream } = await loadStream()
    await stream(workspaceId, takesOver, {
      onNews: (news) => {
        notify(news)
        channel.postMessage({ news } satisfies Message)
      },
      // Called with each event.
      onConnection: (next) => {
        if (next === connection.get()) return
        setConnection(next)
        channel.postMessage({ connection: next } satisfies Message)
      },
    })
  }
  // Browsers have locks only on localhost and over https; elsewhere each tab has its own stream.
  if (!navigator.locks) return void lead(false)
  const name = `baton.live.${workspaceId}`
  void navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await lead(false)
    else void navigator.locks.request(name, () => lead(true))
  })
}

/** Loaded apart: the first screen does not wait for it. */
async function loadStream(): Promise<typeof import('./live-stream.ts')> {
  for (;;) {
    try {
      return await import('./live-stream.ts')
    } catch {
      setConnection('lost')
      await pause(longestPauseMs)
    }
  }
}
