import { isAgentSessionApi } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door } from '../http/invoke.ts'
import { takeCall } from '../http/rate-window.ts'
import { callOf } from './input.ts'
import type { Tool } from './tool.ts'

export type Outcome = { ok: true; body: unknown } | { ok: false; refusal: ApiError }

/**
 * Calls the tool's operation through the door, with the same access, checks and refusals. A tool of the Agent Session
 * API also counts towards that API's rate limit.
 */
export async function callTool(
  ctx: Context,
  door: Door,
  caller: Actor,
  tool: Tool,
  input: Record<string, unknown>,
  address: string,
): Promise<Outcome> {
  const { operation } = tool
  try {
    if (isAgentSessionApi(operation.route)) await takeCall(ctx, caller, operation.route)
    const { body } = await door.invoke(operation, withOwnWorkspace(caller), { ...callOf(tool, input), address })
    return { ok: true, body }
  } catch (error) {
    if (error instanceof ApiError) return { ok: false, refusal: error }
    throw error
  }
}

/** An app token is bound to one workspace; every tool works in it, without the header. */
const withOwnWorkspace = (caller: Actor): Actor =>
  caller.kind === 'app' ? { ...caller, workspaceAsked: caller.workspaceId } : caller
