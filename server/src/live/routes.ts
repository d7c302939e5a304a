import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import type { Hint } from './hint.ts'
import type { Live } from './live.ts'
import { streamFor } from './stream.ts'

/** Any would do: that a browser sends one says that it has been here before. */
const readyId = 'ready'

export const liveRoutes = (live: Live) => [
  route(api.watchWorkspace, ({ ctx, caller, headers }) =>
    streamFor(ctx, caller, (stream) => {
      const resync = () => stream.event('resync', {})
      stream.event('ready', {}, readyId)
      // decisions 6: what changed while it was away is not kept for it.
      if (headers['last-event-id']) resync()
      return live.watch(caller.workspaceId, caller.id, { hint: (hint) => stream.event('change', shown(hint)), resync })
    }),
  ),
]

const shown = ({ type, id, action, parent_id = null }: Hint) => ({ type, id, action, parent_id })
