import { api } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Member } from '../http/caller.ts'
import type { EventStream } from '../http/event-stream.ts'
import { route } from '../http/route.ts'
import { confirmAccess } from './access.ts'
import type { Hint } from './hint.ts'
import type { Live } from './live.ts'
import { readOnWake, streamFor } from './stream.ts'

/** Any id works: a browser that sends one is reconnecting. */
const readyId = 'ready'
/** Maximum number of events that wait for the database. Beyond it the browser reads everything again. */
const maxWaiting = 5000

export const liveRoutes = (live: Live) => [
  route(api.watchWorkspace, ({ ctx, caller, headers }) =>
    streamFor(ctx, caller, (stream) => {
      stream.event('ready', {}, readyId)
      // Hints sent while it was disconnected are not kept (session.stream-resume).
      if (headers['last-event-id']) stream.event(...resync)
      const send = sender(ctx, caller, stream)
      return live.watch(caller.workspaceId, caller.id, {
        hint: (hint) => send(['change', changeOf(hint)]),
        resync: () => send(resync),
      })
    }),
  ),
]

type LiveEvent = [name: string, data: object]
const resync: LiveEvent = ['resync', {}]

/** Sends events once the caller's access is confirmed. Those that come meanwhile wait for the next confirmation. */
function sender(ctx: Context, caller: Member, stream: EventStream): (event: LiveEvent) => void {
  let waiting: LiveEvent[] = []
  const sendAll = readOnWake(ctx, stream, async () => {
    const events = waiting
    waiting = []
    await confirmAccess(ctx, caller)
    for (const event of events) stream.event(...event)
  })
  return (event) => {
    if (waiting.length >= maxWaiting) waiting = [resync]
    else waiting.push(event)
    void sendAll()
  }
}

const changeOf = ({ type, id, action, parent_id = null }: Hint) => ({ type, id, action, parent_id })
