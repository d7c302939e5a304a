import { api } from '@baton/protocol'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { type Call, Reply, route } from '../http/route.ts'
import { callTool } from '../tools/call.ts'
import { exchange } from './exchange.ts'
import { createServer } from './server.ts'

export const mcpRoutes = (door: () => Door) => [route(api.callMcp, (call) => answer(door(), call))]

async function answer(door: Door, { ctx, caller, body: message, headers, address }: Call<typeof api.callMcp>) {
  refuseOtherOrigin(headers.origin, ctx.config.rootUrl)
  let failure: unknown
  const server = createServer(caller.kind, (tool) =>
    callTool(ctx, door, caller, tool, argumentsOf(message), address).catch((error) => {
      failure = error
      throw error
    }),
  )
  const { status, body } = await exchange(server, message, headers)
  // What went wrong on our side is answered as on every route; the protocol would tell its message.
  if (failure) throw failure
  return new Reply(body as never, {}, status)
}

/** As they were sent: what was read by the protocol's schema has lost a key called __proto__. */
const argumentsOf = (message: unknown) =>
  (message as { params: { arguments?: Record<string, unknown> } }).params.arguments ?? {}

/** A page elsewhere that got hold of our address, by DNS rebinding or otherwise, is not a client. */
function refuseOtherOrigin(origin: string | string[] | undefined, rootUrl: string) {
  if (origin === undefined || origin === rootUrl) return
  throw new ApiError('CSRF_REFUSED', {}, { message: 'A page of another origin may not call this.' })
}
