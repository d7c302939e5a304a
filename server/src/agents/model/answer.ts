import { limits } from '@baton/protocol'
import { parseJson } from '../../http/json.ts'
import { clean } from './text.ts'

/** A wish of the model to use a tool. `input` is null where what came is no JSON object. */
export interface Call {
  id: string
  name: string
  input: Record<string, unknown> | null
}

export interface Answer {
  text: string
  calls: Call[]
}

type Json = { [key: string]: unknown }
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a chat completion holds; undefined for what is none. Nothing in it is believed to have the right shape. */
export function answerIn(body: Buffer): Answer | undefined {
  let completion: unknown
  try {
    completion = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  const choices = isObject(completion) ? completion.choices : undefined
  const message = Array.isArray(choices) && isObject(choices[0]) ? choices[0].message : undefined
  if (!isObject(message)) return undefined
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  const text = clean(withoutReasoning(textOf(message.content)), limits.activityBody)
  return { text, calls: calls.map(callOf).map(withOwnId) }
}

/** Text, or parts of it. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** Models that think aloud begin with it, between tags. */
const withoutReasoning = (text: string) => text.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, '')

function callOf(sent: unknown, index: number): Call {
  const { id, function: wanted } = isObject(sent) ? sent : {}
  const { name, arguments: input } = isObject(wanted) ? wanted : {}
  return {
    id: typeof id === 'string' && /^[\w.:-]{1,200}$/.test(id) ? id : `call_${index + 1}`,
    name: typeof name === 'string' && /^[\w-]{1,64}$/.test(name) ? name : 'unknown',
    input: inputOf(input),
  }
}

/** Answers to calls are told apart by it. */
const withOwnId = (call: Call, index: number, all: Call[]) =>
  all.findIndex(({ id }) => id === call.id) === index ? call : { ...call, id: `${call.id}_${index + 1}` }

/** The contract has it as JSON in a string; some endpoints send it as it is, and nothing where nothing is needed. */
function inputOf(sent: unknown): Call['input'] {
  if (sent === undefined || sent === null || sent === '') return {}
  try {
    const input = parseJson(Buffer.from(typeof sent === 'string' ? sent : JSON.stringify(sent)))
    return isObject(input) ? input : null
  } catch {
    return null
  }
}
