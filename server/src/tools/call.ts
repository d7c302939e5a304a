import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { api, type File, isAgentSessionApi, type Operation, programLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import type { Door, Input } from '../http/invoke.ts'
import { takeCall } from '../http/rate-window.ts'
import type { Upload } from '../http/route.ts'
import { callOf } from './input.ts'
import type { Tool } from './tool.ts'

/** `image`: base64, to be shown to the model. */
export type Outcome =
  | { ok: true; body: unknown; image?: { mimeType: string; data: string } | undefined }
  | { ok: false; refusal: ApiError }

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
    const call = tool.uploads ? uploadOf(tool, input) : callOf(tool, input)
    const { body } = await callOperation(ctx, door, caller, tool.operation, { ...call, address })
    const image = tool.showsFile ? await imageOf(ctx, door, caller, body as File, address) : undefined
    return { ok: true, body, image }
  } catch (error) {
    if (error instanceof ApiError) return { ok: false, refusal: error }
    throw error
  }
}

/** The other fields as usual, and `content` as the body. */
function uploadOf(tool: Tool, { content, ...input }: Record<string, unknown>): Omit<Input, 'address'> {
  if (typeof content !== 'string') throw invalid({ content: 'must be the file as base64' })
  const bytes = Buffer.from(content, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') !== content.replace(/=+$/, '')) {
    throw invalid({ content: 'must be the file as base64' })
  }
  if (bytes.length > programLimits.toolUploadBytes) {
    throw invalid({ content: `must be at most ${programLimits.toolUploadBytes} bytes; upload larger files by the API` })
  }
  const upload: Upload = { body: Readable.from([bytes]), bytes: bytes.length, confirm: async () => {} }
  return { ...callOf(tool, input), upload }
}

/** An image that is not too large, read by the same operation that serves it. */
async function imageOf(ctx: Context, door: Door, caller: Actor, file: File, address: string) {
  const isImage = file.inline && file.media_type.startsWith('image/')
  if (!isImage || file.bytes > programLimits.toolImageBytes) return undefined
  const input = { params: { file_id: file.id }, query: {}, body: undefined, headers: {}, address }
  const { body } = await callOperation(ctx, door, caller, api.getFileContent, input)
  return { mimeType: file.media_type, data: (await buffer(body as Readable)).toString('base64') }
}

/** Calls an operation for a request that came in by another route, and counts it if it is of the Agent Session API. */
export async function callOperation(ctx: Context, door: Door, caller: Actor, operation: Operation, input: Input) {
  if (isAgentSessionApi(operation.route)) await takeCall(ctx, caller, operation.route)
  return door.invoke(operation, withOwnWorkspace(caller), { ...input, cause: ctx.cause })
}

/** An app token is bound to one workspace; every tool works in it, without the header. */
const withOwnWorkspace = (caller: Actor): Actor =>
  caller.kind === 'app' ? { ...caller, workspaceAsked: caller.workspaceId } : caller
