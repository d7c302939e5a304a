import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Member } from '../http/caller.ts'
import { EventStream } from '../http/event-stream.ts'
import { isLetIn } from '../login/caller.ts'

/**
 * Server-sent events for a person in a workspace, with a heartbeat every 15 seconds (decisions 6). At each of them it
 * is asked whether the person would be let in now; if not, that was the last. `begin` is EventStream's.
 */
export const streamFor = (ctx: Context, caller: Member, begin: (stream: EventStream) => () => void) =>
  new EventStream((stream) => {
    const over = begin(stream)
    const stopBeating = beat(ctx, caller, stream)
    return () => {
      stopBeating()
      over()
    }
  })

function beat(ctx: Context, caller: Member, stream: EventStream): () => void {
  let asking = false
  let cancel = () => {}
  const next = () => {
    cancel = ctx.clock.after(limits.heartbeatSeconds * 1000, () => {
      next()
      stream.heartbeat()
      if (!asking) void ask()
    })
  }
  async function ask() {
    asking = true
    // A database that does not answer now is asked again at the next one; without it, there is nothing to see either.
    const letIn = await isLetIn(ctx, caller).catch(() => true)
    asking = false
    if (!letIn) stream.end()
  }
  next()
  return () => cancel()
}
