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
 * A tool does what its operation does, through the same door: same access, same checks, same refusals. Where the tool
 * stands for the Agent Session API, that API's limit counts the call as well.
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
    const { body } = await door.invoke(operation, inItsWorkspace(caller), { ...callOf(tool, input), address })
    return { ok: true, body }
  } catch (error) {
    if (error instanceof ApiError) return { ok: false, refusal: error }
    throw error
  }
}

/** Whoever called has been let into a workspace; every tool works in that one. */
const inItsWorkspace = (caller: Actor): Actor =>
  caller.kind === 'app' ? { ...caller, workspaceAsked: caller.workspaceId } : caller
