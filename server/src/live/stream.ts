import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Member } from '../http/caller.ts'
import { EventStream } from '../http/event-stream.ts'
import { isLetIn } from '../login/caller.ts'

interface Options {
  /** Asked at each heartbeat too. */
  mayGoOn?: () => Promise<boolean>
  /** EventStream's. */
  unreadBytes?: number
}

/**
 * Server-sent events for a person in a workspace, with a heartbeat every 15 seconds (decisions 6). At each of them it
 * is asked whether the person would be let in now; if not, that was the last. `begin` is EventStream's.
 */
export const streamFor = (
  ctx: Context,
  caller: Member,
  begin: (stream: EventStream) => () => void,
  { mayGoOn = async () => true, unreadBytes }: Options = {},
) =>
  new EventStream((stream) => {
    const over = begin(stream)
    const stopBeating = beat(ctx, stream, async () => (await isLetIn(ctx, caller)) && (await mayGoOn()))
    return () => {
      stopBeating()
      over()
    }
  }, unreadBytes)

function beat({ clock }: Context, stream: EventStream, mayGoOn: () => Promise<boolean>): () => void {
  let asking = false
  let again = false
  let cancel = () => {}
  const next = () => {
    cancel = clock.after(limits.heartbeatSeconds * 1000, () => {
      next()
      stream.heartbeat()
      void ask()
    })
  }
  // One question at a time. What was asked before a heartbeat says nothing about the time since, so it is asked again.
  async function ask() {
    again = true
    if (asking) return
    asking = true
    while (again && !stream.over) {
      again = false
      // A database that does not answer now is asked again at the next one; without it, there is nothing to see either.
      if (!(await mayGoOn().catch(() => true))) stream.end()
    }
    asking = false
  }
  next()
  return () => cancel()
}
