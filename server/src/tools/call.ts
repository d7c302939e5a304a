import { isAgentSessionApi, type Operation } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import type { Door, Input } from '../http/invoke.ts'
import { takeCall } from '../http/rate-window.ts'
import { callOf } from './input.ts'
import type { Tool } from './tool.ts'

export type Outcome = { ok: true; body: unknown } | { ok: false; refusal: ApiError }

/** Calls the tool's operation through the door, with the same access, checks and refusals. */
export async function callTool(
  ctx: Context,
  door: Door,
  caller: Actor,
  tool: Tool,
  input: Record<string, unknown>,
  address: string,
): Promise<Outcome> {
  try {
    const { body } = await callOperation(ctx, door, caller, tool.operation, { ...callOf(tool, input), address })
    return { ok: true, body }
  } catch (error) {
    if (error instanceof ApiError) return { ok: false, refusal: error }
    throw error
  }
}

/** Calls an operation for a request that came in by another route, and counts it if it is of the Agent Session API. */
export async function callOperation(ctx: Context, door: Door, caller: Actor, operation: Operation, input: Input) {
  if (isAgentSessionApi(operation.route)) await takeCall(ctx, caller, operation.route)
  return door.invoke(operation, withOwnWorkspace(caller), input)
}

/** An app token is bound to one workspace; every tool works in it, without the header. */
const withOwnWorkspace = (caller: Actor): Actor =>
  caller.kind === 'app' ? { ...caller, workspaceAsked: caller.workspaceId } : caller
