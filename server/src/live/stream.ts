import { limits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { EventStream } from '../http/event-stream.ts'
import { CoalescedTask } from '../single-flight.ts'
import { confirmAccess } from './access.ts'

interface Options {
  /** Checked at each heartbeat, besides access to the workspace. */
  mayContinue?: () => Promise<boolean>
  /** As for EventStream. */
  unreadBytes?: number
}

/**
 * Server-sent events for a member of a workspace or an app, with a heartbeat every 15 seconds (session.stream-heartbeat). At
 * each heartbeat the caller's access is checked again; without it the stream ends. Before it sends an event, the source of
 * the events checks it with `confirmAccess`. `begin` is as for EventStream.
 */
export const streamFor = (
  ctx: Context,
  caller: Actor,
  begin: (stream: EventStream) => () => void,
  { mayContinue = async () => true, unreadBytes }: Options = {},
) =>
  new EventStream((stream) => {
    const end = begin(stream)
    const stopHeartbeat = startHeartbeat(ctx, stream, async () => {
      await confirmAccess(ctx, caller)
      return mayContinue()
    })
    return () => {
      stopHeartbeat()
      end()
    }
  }, unreadBytes)

function startHeartbeat(ctx: Context, stream: EventStream, mayContinue: () => Promise<boolean>): () => void {
  let cancel = () => {}
  // If a check is still in progress at the next heartbeat, another one follows: access may have changed since it began.
  const check = readOnWake(ctx, stream, async () => {
    // If the database is unavailable, the next heartbeat checks again; until then the stream sends nothing.
    const continues = await mayContinue().catch((error) => !(error instanceof ApiError))
    if (!continues) stream.end()
  })
  const next = () => {
    cancel = ctx.clock.after(limits.heartbeatSeconds * 1000, () => {
      next()
      stream.heartbeat()
      void check()
    })
  }
  next()
  return () => cancel()
}

/**
 * Returns a function to call whenever there may be something new for a stream. It runs `read` once at a time, and once
 * more if it was called meanwhile. An error ends the stream: the user lost access, or the database is unavailable and the
 * client reconnects.
 */
export function readOnWake({ log }: Context, stream: EventStream, read: () => Promise<void>): () => Promise<void> {
  const reading = new CoalescedTask(async () => {
    if (stream.over) return
    try {
      await read()
    } catch (error) {
      if (!(error instanceof ApiError))
        log.warn({ message: (error as Error).message }, 'a stream was ended by an error')
      stream.end()
    }
  })
  return () => reading.request()
}
