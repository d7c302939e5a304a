import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import type { Hint } from './hint.ts'
import type { Live } from './live.ts'
import { streamFor } from './stream.ts'

/** Any id works: a browser that sends one is reconnecting. */
const readyId = 'ready'

export const liveRoutes = (live: Live) => [
  route(api.watchWorkspace, ({ ctx, caller, headers }) =>
    streamFor(ctx, caller, (stream) => {
      const resync = () => stream.event('resync', {})
      stream.event('ready', {}, readyId)
      // Hints sent while it was disconnected are not kept (session.stream-resume).
      if (headers['last-event-id']) resync()
      return live.watch(caller.workspaceId, caller.id, {
        hint: (hint) => stream.event('change', changeOf(hint)),
        resync,
      })
    }),
  ),
]

const changeOf = ({ type, id, action, parent_id = null }: Hint) => ({ type, id, action, parent_id })
