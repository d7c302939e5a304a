import type { LiveChange } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { eventsOf } from '@baton/sdk/event-stream'
import { createStore, useStore } from '../ui/store.ts'

/**
 * Changes made elsewhere, with one stream for all tabs of a browser. The tab that holds the lock has the stream and
 * broadcasts what it receives; when that tab is closed, another takes over.
 */
export type News = { kind: 'change'; change: LiveChange } | { kind: 'begun' } | { kind: 'resync' }
export type Connection = 'connecting' | 'open' | 'lost'

/** After two missing heartbeats the connection is dead. */
const silenceMs = (2 * limits.heartbeatSeconds + 10) * 1000
const longestPauseMs = 15_000

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

interface StreamHandlers {
  onNews: (news: News) => void
  onConnection: (connection: Connection) => void
}

/** Reconnects for as long as the page is open. A tab that takes over may have missed changes. */
async function stream(
  workspaceId: string,
  takesOver: boolean,
  { onNews, onConnection }: StreamHandlers,
): Promise<never> {
  let failures = 0
  let missed = takesOver
  let begun = takesOver
  for (;;) {
    try {
      // Reset by the first event: an answer without events is not the service.
      failures++
      for await (const { event, data } of connect(workspaceId)) {
        failures = 0
        onConnection('open')
        if (event === 'change') onNews({ kind: 'change', change: JSON.parse(data) as LiveChange })
        // Changes during an interruption are not sent again.
        else if (event === 'resync' || missed) onNews({ kind: 'resync' })
        else if (!begun) onNews({ kind: 'begun' })
        missed = false
        begun = true
      }
    } catch (error) {
      failures ||= 1
      // Reading again shows the user why access was refused.
      if (error instanceof Refused) onNews({ kind: 'resync' })
    }
    missed = true
    if (failures > 0) onConnection('lost')
    await pause(Math.min(longestPauseMs, 500 * 2 ** failures) * (0.5 + Math.random() / 2))
  }
}

class Refused extends Error {}

async function* connect(workspaceId: string) {
  const controller = new AbortController()
  let silence = setTimeout(() => controller.abort(), silenceMs)
  const alive = () => {
    clearTimeout(silence)
    silence = setTimeout(() => controller.abort(), silenceMs)
  }
  const abort = () => controller.abort()
  addEventListener('offline', abort)
  try {
    const query = new URLSearchParams({ workspace_id: workspaceId })
    const response = await fetch(`/api/v1/live?${query}`, { signal: controller.signal })
    if (/^40[134]$/.test(String(response.status))) throw new Refused()
    if (!response.ok || !response.body) throw new Error(`answered ${response.status}`)
    yield* eventsOf(chunksOf(response.body), alive)
  } finally {
    clearTimeout(silence)
    removeEventListener('offline', abort)
    controller.abort()
  }
}

/** Not every browser can iterate over a ReadableStream. */
async function* chunksOf(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** Ends early when the browser is back on the network. */
const pause = (ms: number) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
  })
