import { api } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Member } from '../http/caller.ts'
import type { EventStream } from '../http/event-stream.ts'
import { route } from '../http/route.ts'
import { confirmAccess } from '../live/access.ts'
import type { Live } from '../live/live.ts'
import { readOnWake, streamFor } from '../live/stream.ts'
import { activitiesAfter } from './activities.ts'
import { getSession } from './read.ts'

/** Activities read at once, which limits the memory for a slow reader. */
const batchSize = 10

/**
 * Streams a session: the event `session` when it has changed, and one `activity` for each activity, with its seq as id. A
 * browser that reconnects sends the last id and gets the activities after it (session.stream-resume).
 */
export const sessionStreamRoutes = (live: Live) => [
  route(api.watchAgentSession, async ({ ctx, caller, params, query, headers }) => {
    await getSession(ctx, caller, params.session_id)
    const after = seqOf(headers['last-event-id']) ?? query.after_seq ?? 0
    return streamFor(ctx, caller, (stream) =>
      follow(ctx, live, { caller, stream, id: params.session_id, sent: { seq: after, session: '' } }),
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
  /** The last activity and session that were sent. */
  sent: { seq: number; session: string }
}

/** Reads the session at each hint, and sends its changes and new activities. */
function follow(ctx: Context, live: Live, watching: Watching): () => void {
  const { caller, stream, id } = watching
  const check = readOnWake(ctx, stream, () => send(ctx, watching))
  const unwatch = live.watch(caller.workspaceId, caller.id, {
    hint: ({ type, id: changed }) => void (type === 'AgentSession' && changed === id && check()),
    resync: () => void check(),
  })
  void check()
  return unwatch
}

async function send(ctx: Context, watching: Watching) {
  const { stream, id, sent } = watching
  for (;;) {
    const activities = await activitiesAfter(ctx, id, sent.seq, batchSize)
    const session = await readAsPermitted(ctx, watching)
    const text = JSON.stringify(session)
    if (text !== sent.session) stream.event('session', session)
    sent.session = text
    for (const activity of activities) {
      if (await stream.drained()) await readAsPermitted(ctx, watching)
      // The reader has disconnected.
      if (stream.over) return
      stream.event('activity', activity, String(activity.seq))
      sent.seq = activity.seq
    }
    if (activities.length < batchSize) return
  }
}

/**
 * Reads the session, and throws if the watcher may no longer see it. It follows every read of activities and every wait,
 * so that nothing is sent that was written after the watcher lost access.
 */
async function readAsPermitted(ctx: Context, { caller, id }: Watching) {
  const session = await getSession(ctx, caller, id)
  await confirmAccess(ctx, caller)
  return session
}
