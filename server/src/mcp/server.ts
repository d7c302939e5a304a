import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { annotations } from '../tools/annotations.ts'
import type { Outcome } from '../tools/call.ts'
import { findTool, toolsFor } from '../tools/catalogue.ts'
import { inputSchema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'

const instructions = `Baton is a work tracker whose teammates include agents. Issues belong to teams and have a code such as ENG-12; projects group issues; issues and projects have comments. Ids come from the tools: list before you write, and never invent an id. Lists have pages of at most 100. Times are ISO 8601 in UTC. A refused call returns a code, the reason and the fields to fix.`

const describe = (tool: Tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: inputSchema(tool),
  annotations: annotations(tool),
})

/** Computed once, because the tools never change. */
const described = { app: toolsFor('app').map(describe), person: toolsFor('person').map(describe) }

/** An MCP server for one request. */
export function createServer(kind: 'app' | 'person', call: (tool: Tool) => Promise<Outcome>): Server {
  const server = new Server(
    { name: 'baton', title: 'Baton', version: '1' },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler('tools/list', () => ({ tools: described[kind] }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = findTool(kind, params.name)
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool. See tools/list.')
    return resultOf(await call(tool))
  })
  return server
}

/** A refusal is a result too, so that the model can read it and correct its call. */
function resultOf(outcome: Outcome) {
  if (outcome.ok) {
    if (outcome.body === undefined) return { content: [text('Done.')] }
    const image = outcome.image ? [{ type: 'image' as const, ...outcome.image }] : []
    return {
      content: [text(JSON.stringify(outcome.body)), ...image],
      structuredContent: outcome.body as Record<string, unknown>,
    }
  }
  const { code, message, details, headers } = outcome.refusal
  const wait = headers['retry-after'] ? `Wait ${headers['retry-after']} s.` : ''
  const fields = Object.keys(details).length > 0 ? JSON.stringify(details) : ''
  return {
    content: [text([`${code}: ${message}`, fields, wait].filter(Boolean).join('\n'))],
    structuredContent: outcome.refusal.body,
    isError: true,
  }
}

const text = (content: string) => ({ type: 'text' as const, text: content })
