import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Member } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { EventStream } from '../http/event-stream.ts'
import { isStillMember } from '../login/caller.ts'

interface Options {
  /** Asked at each heartbeat too. */
  mayGoOn?: () => Promise<boolean>
  /** As for EventStream. */
  unreadBytes?: number
}

/**
 * Server-sent events for a person in a workspace, with a heartbeat every 15 seconds (decisions 6). At each of them it
 * is asked whether the person would be let in now; if not, that was the last. `begin` is as for EventStream.
 */
export const streamFor = (
  ctx: Context,
  caller: Member,
  begin: (stream: EventStream) => () => void,
  { mayGoOn = async () => true, unreadBytes }: Options = {},
) =>
  new EventStream((stream) => {
    const over = begin(stream)
    const stopBeating = beat(ctx, stream, async () => (await isStillMember(ctx, caller)) && (await mayGoOn()))
    return () => {
      stopBeating()
      over()
    }
  }, unreadBytes)

function beat(ctx: Context, stream: EventStream, mayGoOn: () => Promise<boolean>): () => void {
  let cancel = () => {}
  // What was asked before a heartbeat says nothing about the time since, so it is asked again.
  const ask = lookWhenRung(ctx, stream, async () => {
    // A database that does not answer now is asked again at the next one; without it, there is nothing to see either.
    if (!(await mayGoOn().catch(() => true))) stream.end()
  })
  const next = () => {
    cancel = ctx.clock.after(limits.heartbeatSeconds * 1000, () => {
      next()
      stream.heartbeat()
      void ask()
    })
  }
  next()
  return () => cancel()
}

/**
 * What is to be called whenever there may be something new for a stream. There is one look at a time, and another one
 * if it was called meanwhile. A look that fails ends the stream: it is not theirs to see any more; or the database is
 * away, and they come back.
 */
export function lookWhenRung({ log }: Context, stream: EventStream, look: () => Promise<void>): () => Promise<void> {
  let looking = false
  let again = false
  return async () => {
    again = true
    if (looking) return
    looking = true
    try {
      while (again && !stream.over) {
        again = false
        await look()
      }
    } catch (error) {
      if (!(error instanceof ApiError)) log.warn({ message: (error as Error).message }, 'a stream was cut off')
      stream.end()
    } finally {
      looking = false
    }
  }
}
