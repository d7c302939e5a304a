import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { annotations } from '../tools/annotations.ts'
import type { Outcome } from '../tools/call.ts'
import { findTool, toolsFor } from '../tools/catalogue.ts'
import { inputSchema } from '../tools/schema.ts'
import type { Tool } from '../tools/tool.ts'

const instructions = `Baton is a work tracker whose teammates include agents. Issues belong to teams and have a code such as ENG-12; projects gather issues; comments stand on issues and projects. Ids come from the tools: list before you write, and do not make one up. Lists come in pages of at most 100. Times are ISO 8601 in UTC. A call that is refused says why, with a code and the fields to mend.`

const describe = (tool: Tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: inputSchema(tool),
  annotations: annotations(tool),
})

/** They never change, and there are many requests. */
const described = { app: toolsFor('app').map(describe), person: toolsFor('person').map(describe) }

/** The protocol's view of us, for one request of one kind of caller. */
export function createServer(kind: 'app' | 'person', call: (tool: Tool) => Promise<Outcome>): Server {
  const server = new Server(
    { name: 'baton', title: 'Baton', version: '1' },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler('tools/list', () => ({ tools: described[kind] }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = findTool(kind, params.name)
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool; see tools/list.')
    return resultOf(await call(tool))
  })
  return server
}

/** A refusal is a result too: the model reads it and can mend its call. */
function resultOf(outcome: Outcome) {
  if (outcome.ok) {
    if (outcome.body === undefined) return { content: [text('Done.')] }
    return { content: [text(JSON.stringify(outcome.body))], structuredContent: outcome.body as Record<string, unknown> }
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

const text = (words: string) => ({ type: 'text' as const, text: words })
