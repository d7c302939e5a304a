import { api } from '@baton/protocol'
import type { Door } from '../http/invoke.ts'
import { type Call, Reply, route } from '../http/route.ts'
import { refuseOtherOrigin } from '../login/origin.ts'
import { callTool } from '../tools/call.ts'

export const mcpRoutes = (door: () => Door) => [route(api.callMcp, (call) => answer(door(), call))]

async function answer(door: Door, { ctx, caller, body: message, headers, address }: Call<typeof api.callMcp>) {
  // Also with a bearer token, to prevent DNS rebinding.
  refuseOtherOrigin(headers.origin, ctx.config)
  // Loaded at the first use: the protocol library is larger than the rest of the service.
  const [{ exchange }, { createServer }] = await Promise.all([import('./exchange.ts'), import('./server.ts')])
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
