import type { LiveChange } from '@baton/protocol'
import { eventsOf } from '@baton/sdk/event-stream'
import { useSyncExternalStore } from 'react'

/**
 * What changes elsewhere, told once to all tabs of a browser. The tab that holds the lock has the stream and passes on
 * what it hears; when it is closed, another takes over.
 */
export type News = { kind: 'change'; change: LiveChange } | { kind: 'resync' }
export type Connection = 'connecting' | 'open' | 'lost'

/** The service says something every 15 s; after two that are missing the connection is dead. */
const silenceMs = 40_000
const longestPauseMs = 15_000

const watchers = new Set<(news: News) => void>()
const connectionListeners = new Set<() => void>()
let connection: Connection = 'connecting'

/** Calls `watcher` with everything that is told from now on. */
export function watch(watcher: (news: News) => void): () => void {
  watchers.add(watcher)
  return () => {
    watchers.delete(watcher)
  }
}

export const useConnection = () =>
  useSyncExternalStore(
    (listener) => {
      connectionListeners.add(listener)
      return () => connectionListeners.delete(listener)
    },
    () => connection,
  )

function connectionIs(next: Connection) {
  if (next === connection) return
  connection = next
  for (const listener of connectionListeners) listener()
}

type Passed = { news: News } | { connection: Connection } | { ask: true }

/** Begins to listen for a workspace; once for each time the app is loaded. */
export function goLive(workspaceId: string) {
  const channel = new BroadcastChannel(`baton.live.${workspaceId}`)
  const tell = (news: News) => {
    for (const watcher of watchers) watcher(news)
  }
  let leads = false
  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if ('news' in data) tell(data.news)
    else if ('connection' in data) connectionIs(data.connection)
    else if (leads) channel.postMessage({ connection } satisfies Passed)
  }
  channel.postMessage({ ask: true } satisfies Passed)
  void navigator.locks.request(`baton.live.${workspaceId}`, async () => {
    leads = true
    await stream(workspaceId, {
      heard: (news) => {
        tell(news)
        channel.postMessage({ news } satisfies Passed)
      },
      is: (next) => {
        connectionIs(next)
        channel.postMessage({ connection: next } satisfies Passed)
      },
    })
  })
}

interface Ears {
  heard: (news: News) => void
  is: (connection: Connection) => void
}

/** Stays connected for as long as the page is there. */
async function stream(workspaceId: string, { heard, is }: Ears): Promise<never> {
  let failures = 0
  let missed = false
  for (;;) {
    try {
      for await (const { event, data } of connect(workspaceId)) {
        failures = 0
        is('open')
        if (event === 'change') heard({ kind: 'change', change: JSON.parse(data) as LiveChange })
        // What happened while nobody listened is not told again.
        else if (event === 'resync' || missed) heard({ kind: 'resync' })
        missed = false
      }
    } catch (error) {
      failures++
      // Whoever may no longer listen looks again, and learns why.
      if (error instanceof Refused) heard({ kind: 'resync' })
    }
    missed = true
    if (failures > 0) is('lost')
    await pause(failures === 0 ? 0 : Math.min(longestPauseMs, 500 * 2 ** failures) * (0.5 + Math.random() / 2))
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
  const away = () => controller.abort()
  addEventListener('offline', away)
  try {
    const query = new URLSearchParams({ workspace_id: workspaceId })
    const response = await fetch(`/api/v1/live?${query}`, { signal: controller.signal })
    if (/^40[134]$/.test(String(response.status))) throw new Refused()
    if (!response.ok || !response.body) throw new Error(`answered ${response.status}`)
    yield* eventsOf(chunksOf(response.body), alive)
  } finally {
    clearTimeout(silence)
    removeEventListener('offline', away)
    controller.abort()
  }
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** Ends early when the browser says that it is back on the network. */
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
