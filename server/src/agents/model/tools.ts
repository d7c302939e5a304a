import { createHash } from 'node:crypto'
import { api } from '@baton/protocol'
import { annotations } from '../../tools/annotations.ts'
import type { Outcome } from '../../tools/call.ts'
import { type InputSchema, inputSchema, type Json } from '../../tools/schema.ts'
import type { Tool } from '../../tools/tool.ts'
import { inBrief } from './text.ts'

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

/** Names of what the agent does in its own session, which no session has to be named for. */
export const planTool = 'update_session_plan'
export const askTool = 'ask_person'

const ownTools = [
  define(
    planTool,
    'Show what you are about to do as a checklist, and tick it off. Send the whole plan every time. Only for work of several steps.',
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
    'Ask the person a question that you cannot go on without, and end here; you are called again when they answer. Offer options where there are few answers.',
    object(
      {
        question: text('Markdown'),
        options: {
          type: 'array',
          items: object({ value: text('Short, unique'), label: text('As shown'), description: text('One line') }, [
            'value',
          ]),
        },
      },
      ['question'],
    ),
  ),
]

/** Keywords that some endpoints make grammars of, which fail or take forever. The door asks for all of them anyway. */
const askedByTheDoor = [
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

function plain(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(plain)
  if (schema === null || typeof schema !== 'object') return schema
  const { properties, ...keywords } = schema
  const kept = Object.entries(keywords).filter(([name]) => !askedByTheDoor.includes(name))
  return {
    ...(keywords.enum && !keywords.type ? { type: 'string' } : {}),
    ...Object.fromEntries(kept.map(([name, value]) => [name, plain(value)])),
    // Fields may be called as keywords are.
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, plain(field)])),
    }),
  }
}

/** What the model is told that it can do. */
export const definitionsOf = (tools: readonly Tool[]): ToolDefinition[] => [
  ...tools.map((tool) => define(tool.name, tool.description, plain(fieldsOf(tool)) as object)),
  ...ownTools,
]

/** It changes no other session than its own, so that none has to be named. */
function fieldsOf(tool: Tool): InputSchema {
  const { properties, required, ...schema } = inputSchema(tool)
  if (tool.operation !== api.updateAgentSession) return { ...schema, properties, required }
  const { session_id: _, ...others } = properties
  return { ...schema, properties: others, required: required.filter((name) => name !== 'session_id') }
}

/** "Get issue" for `get_issue`. */
export const inWords = (tool: Tool) => annotations(tool).title

/** What a call is about: what says most comes first, and what only pages is left out. */
export function aboutCall(input: Record<string, unknown>): string {
  const told = Object.entries(input).filter(([name]) => name !== 'cursor' && name !== 'limit')
  const [only] = told
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  if (told.length === 1 && only) return inBrief(shown(only[1]))
  return inBrief(told.map(([name, value]) => `${name}: ${shown(value)}`).join(', '))
}

/** What came of it, in a few words. */
export function inShort(outcome: Outcome): string {
  if (!outcome.ok) return inBrief(`${outcome.refusal.code}: ${outcome.refusal.message}`)
  const body = (outcome.body ?? {}) as Record<string, unknown>
  if (Array.isArray(body.data))
    return `${body.data.length} found${body.next_cursor || body.has_more ? ', and more' : ''}`
  const named = [body.code, body.title ?? body.name ?? body.text].filter((part) => typeof part === 'string')
  return inBrief(named.join(' ')) || 'Done'
}

/** The same tool with the same input has the same mark. */
export const markOf = ({ name }: Tool, input: Record<string, unknown>) =>
  createHash('sha256')
    .update(JSON.stringify([name, Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))]))
    .digest('hex')
    .slice(0, 24)

export const writes = ({ operation }: Tool) => operation.route.method !== 'GET'

/** Made twice, there would be two. A comment is looked for by its words before it is made (hands.ts). */
export const makesAnother = ({ operation }: Tool) =>
  operation.route.method === 'POST' && operation !== api.createComment
