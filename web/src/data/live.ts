import type { LiveChange } from '@baton/protocol'
import { eventsOf } from '@baton/sdk/event-stream'
import { useSyncExternalStore } from 'react'

/**
 * What changes elsewhere, told once to all tabs of a browser. The tab that holds the lock has the stream and passes on
 * what it hears; when it is closed, another takes over.
 */
export type News = { kind: 'change'; change: LiveChange } | { kind: 'begun' } | { kind: 'resync' }
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

let hearing = () => {}
const heard = new Promise<void>((resolve) => {
  hearing = resolve
})
/** From then on nothing is missed; whoever reads much waits for it, but not for long. */
export const whenHearing = (atMostMs: number) => Promise.race([heard, pause(atMostMs)])

function connectionIs(next: Connection) {
  if (next === connection) return
  connection = next
  if (next === 'open') hearing()
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
  const lead = async (takesOver: boolean) => {
    leads = true
    await stream(workspaceId, takesOver, {
      heard: (news) => {
        tell(news)
        channel.postMessage({ news } satisfies Passed)
      },
      is: (next) => {
        connectionIs(next)
        channel.postMessage({ connection: next } satisfies Passed)
      },
    })
  }
  const name = `baton.live.${workspaceId}`
  void navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock) await lead(false)
    else void navigator.locks.request(name, () => lead(true))
  })
}

interface Ears {
  heard: (news: News) => void
  is: (connection: Connection) => void
}

/** Stays connected for as long as the page is there. Whoever takes over does not know what was told meanwhile. */
async function stream(workspaceId: string, takesOver: boolean, { heard, is }: Ears): Promise<never> {
  let failures = 0
  let missed = takesOver
  let begun = takesOver
  for (;;) {
    try {
      // Until something is heard: what answers and tells nothing is not the service.
      failures++
      for await (const { event, data } of connect(workspaceId)) {
        failures = 0
        is('open')
        if (event === 'change') heard({ kind: 'change', change: JSON.parse(data) as LiveChange })
        // What happened while nobody listened is not told again.
        else if (event === 'resync' || missed) heard({ kind: 'resync' })
        else if (!begun) heard({ kind: 'begun' })
        missed = false
        begun = true
      }
    } catch (error) {
      failures ||= 1
      // Whoever may no longer listen looks again, and learns why.
      if (error instanceof Refused) heard({ kind: 'resync' })
    }
    missed = true
    if (failures > 0) is('lost')
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
