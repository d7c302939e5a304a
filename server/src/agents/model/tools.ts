import { createHash } from 'node:crypto'
import { api } from '@baton/protocol'
import { annotations } from '../../tools/annotations.ts'
import type { Outcome } from '../../tools/call.ts'
import { type InputSchema, inputSchema, type Json } from '../../tools/schema.ts'
import type { Tool } from '../../tools/tool.ts'
import { oneLine } from './text.ts'

export interface ToolDefinition {
  type: 'function'
  function: { name: string; description: string; parameters: object }
}

const define = (name: string, description: string, parameters: object): ToolDefinition => ({
  type: 'function',
  function: { name, description, parameters },
})

const text = (description: string) => ({ type: 'string', description })
const object = (properties: Record<string, object>, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** Tools for the agent's own session, without a session id. */
export const planTool = 'update_session_plan'
export const askTool = 'ask_person'

const ownTools = [
  define(
    planTool,
    'Show your plan as a checklist and update the status of its steps. Send the whole plan every time. Only for work of several steps.',
    object(
      {
        plan: {
          type: 'array',
          items: object(
            { content: text('A step'), status: { enum: ['pending', 'inProgress', 'completed', 'canceled'] } },
            ['content', 'status'],
          ),
        },
      },
      ['plan'],
    ),
  ),
  define(
    askTool,
    'Ask the person a question that you need answered to continue. This ends your work; you are called again when they answer. Offer options if there are only a few possible answers.',
    object(
      {
        question: text('Markdown'),
        options: {
          type: 'array',
          items: object(
            { value: text('Short, unique'), label: text('Shown to the person'), description: text('One line') },
            ['value'],
          ),
        },
      },
      ['question'],
    ),
  ),
]

/** Some endpoints compile these keywords to grammars, which fails or is very slow. The door validates them anyway. */
const droppedKeywords = [
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'default',
  'maxItems',
  'minItems',
  'uniqueItems',
]

function simplify(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(simplify)
  if (schema === null || typeof schema !== 'object') return schema
  const { properties, ...keywords } = schema
  const kept = Object.entries(keywords).filter(([name]) => !droppedKeywords.includes(name))
  return {
    ...(keywords.enum && !keywords.type ? { type: 'string' } : {}),
    ...Object.fromEntries(kept.map(([name, value]) => [name, simplify(value)])),
    // Not filtered: a field can have the name of a keyword.
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, simplify(field)])),
    }),
  }
}

/** The tool definitions in the request to the model. */
export const definitionsOf = (tools: readonly Tool[]): ToolDefinition[] => [
  ...tools.map((tool) => define(tool.name, tool.description, simplify(fieldsOf(tool)) as object)),
  ...ownTools,
]

/** An agent updates only its own session, so `session_id` is left out. */
function fieldsOf(tool: Tool): InputSchema {
  const { properties, required, ...schema } = inputSchema(tool)
  if (tool.operation !== api.updateAgentSession) return { ...schema, properties, required }
  const { session_id: _, ...others } = properties
  return { ...schema, properties: others, required: required.filter((name) => name !== 'session_id') }
}

/** "Get issue" for `get_issue`. */
export const toolTitle = (tool: Tool) => annotations(tool).title

/** The input on one line, without the paging fields. */
export function describeInput(input: Record<string, unknown>): string {
  const fields = Object.entries(input).filter(([name]) => name !== 'cursor' && name !== 'limit')
  const [only] = fields
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  if (fields.length === 1 && only) return oneLine(shown(only[1]))
  return oneLine(fields.map(([name, value]) => `${name}: ${shown(value)}`).join(', '))
}

/** The result on one line. */
export function summarizeOutcome(outcome: Outcome): string {
  if (!outcome.ok) return oneLine(`${outcome.refusal.code}: ${outcome.refusal.message}`)
  const body = (outcome.body ?? {}) as Record<string, unknown>
  if (Array.isArray(body.data))
    return `${body.data.length} found${body.next_cursor || body.has_more ? ', and more' : ''}`
  const named = [body.code, body.title ?? body.name ?? body.text].filter((part) => typeof part === 'string')
  return oneLine(named.join(' ')) || 'Done'
}

/** The same for the same tool with the same input. */
export const callHash = ({ name }: Tool, input: Record<string, unknown>) =>
  createHash('sha256')
    .update(JSON.stringify([name, Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))]))
    .digest('hex')
    .slice(0, 24)

export const isWrite = ({ operation }: Tool) => operation.route.method !== 'GET'

/** Repeating the call would create a second item. Comments are excluded: AgentSessionApi finds existing ones by text. */
export const createsNewItem = ({ operation }: Tool) =>
  operation.route.method === 'POST' && operation !== api.createComment
