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
  // An internal error becomes our usual 500; the protocol library would reveal its message.
  if (failure) throw failure
  return new Reply(body as never, {}, status)
}

/** Taken from the raw message, because the protocol library's schema drops a key named __proto__. */
const argumentsOf = (message: unknown) =>
  (message as { params: { arguments?: Record<string, unknown> } }).params.arguments ?? {}

/** Protects against DNS rebinding and other cross-origin pages. */
function refuseOtherOrigin(origin: string | string[] | undefined, rootUrl: string) {
  if (origin === undefined || origin === rootUrl) return
  throw new ApiError('CSRF_REFUSED', {}, { message: 'Requests from pages of another origin are not allowed.' })
}
