import { Type } from 'typebox'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** JSON-RPC 2.0 messages may have unknown keys. */
const open = { additionalProperties: true } as const
const version = { jsonrpc: Type.Literal('2.0') }
const RpcError = Type.Object(
  { ...version, error: Type.Object({ code: Type.Integer(), message: Type.String() }, open) },
  { ...open, title: 'JsonRpcError' },
)
const RpcResult = Type.Object({ ...version, result: Type.Object({}, open) }, { ...open, title: 'JsonRpcResult' })

export const mcp = {
  callMcp: operation(routes.callMcp, {
    summary: 'Call the MCP server: the API as tools for models, over Streamable HTTP without sessions',
    body: Type.Unknown({ title: 'JsonRpcMessage' }),
    bodyCheckedByVerb: true,
    errorFormat: 'json-rpc',
    // 202 for a notification; 400 or 404 for an invalid message.
    returns: { 200: Type.Union([RpcResult, RpcError]), 202: null, 400: RpcError, 404: RpcError },
  }),
}
