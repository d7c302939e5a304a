import type { LiveChange } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { eventsOf } from '@baton/sdk/event-stream'
import { type Connection, longestPauseMs, type News, pause } from './live-news.ts'

/** After two missing heartbeats the connection is dead. */
const silenceMs = (2 * limits.heartbeatSeconds + 10) * 1000

interface StreamHandlers {
  onNews: (news: News) => void
  onConnection: (connection: Connection) => void
}

/** Reconnects for as long as the page is open. A tab that takes over may have missed changes. */
export async function stream(
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
