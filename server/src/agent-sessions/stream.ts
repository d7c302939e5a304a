import { api } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Member } from '../http/caller.ts'
import type { EventStream } from '../http/event-stream.ts'
import { route } from '../http/route.ts'
import type { Live } from '../live/live.ts'
import { readOnWake, streamFor } from '../live/stream.ts'
import { activitiesAfter } from './activities.ts'
import { getSession } from './read.ts'

/** So many wait in memory for one who reads slowly. */
const atOnce = 10

/**
 * A session as it goes on: `session` whenever it looks different, `activity` for each one, by its seq. A browser that
 * comes back says which it had last, and gets what follows: no gap, and nothing twice (decisions 6).
 */
export const sessionStreamRoutes = (live: Live) => [
  route(api.watchAgentSession, async ({ ctx, caller, params, query, headers }) => {
    await getSession(ctx, caller, params.session_id)
    const after = seqOf(headers['last-event-id']) ?? query.after_seq ?? 0
    return streamFor(ctx, caller, (stream) =>
      follow(ctx, live, { caller, stream, id: params.session_id, seen: { seq: after, session: '' } }),
    )
  }),
]

function seqOf(lastEventId: string | string[] | undefined): number | undefined {
  return typeof lastEventId === 'string' && /^\d{1,9}$/.test(lastEventId) ? Number(lastEventId) : undefined
}

interface Watching {
  caller: Member
  stream: EventStream
  id: string
  /** What was sent last. */
  seen: { seq: number; session: string }
}

/** Each hint says to look again; what is new since the last look is sent. */
function follow(ctx: Context, live: Live, watching: Watching): () => void {
  const { caller, stream, id } = watching
  const look = readOnWake(ctx, stream, () => send(ctx, watching))
  const unwatch = live.watch(caller.workspaceId, caller.id, {
    hint: ({ type, id: changed }) => void (type === 'AgentSession' && changed === id && look()),
    resync: () => void look(),
  })
  void look()
  return unwatch
}

async function send(ctx: Context, { caller, stream, id, seen }: Watching) {
  const session = await getSession(ctx, caller, id)
  const text = JSON.stringify(session)
  if (text !== seen.session) stream.event('session', session)
  seen.session = text
  for (;;) {
    const activities = await activitiesAfter(ctx, id, seen.seq, atOnce)
    for (const activity of activities) {
      await stream.room()
      // Whoever has gone is not read for any more.
      if (stream.over) return
      stream.event('activity', activity, String(activity.seq))
      seen.seq = activity.seq
    }
    if (activities.length < atOnce) return
  }
}
