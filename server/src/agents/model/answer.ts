import { limits } from '@baton/protocol'
import { parseJson } from '../../http/json.ts'
import { cleanText } from './text.ts'

/** A tool call that the model requests. `input` is null if its arguments are no JSON object. */
export interface Call {
  id: string
  name: string
  input: Record<string, unknown> | null
}

/** Tokens that the model reports for one answer. */
export interface Tokens {
  input: number
  output: number
}

export interface Answer {
  text: string
  calls: Call[]
  /** Null if the endpoint reports nothing. */
  tokens: Tokens | null
}

type Json = { [key: string]: unknown }
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses a chat completion; undefined if it is invalid. The endpoint is not trusted to send the right shape. */
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
  const text = cleanText(withoutReasoning(textOf(message.content)), limits.activityBody)
  const tokens = tokensIn(isObject(completion) ? completion.usage : undefined)
  return { text, calls: calls.map(callOf).map(withUniqueId), tokens }
}

function tokensIn(usage: unknown): Tokens | null {
  if (!isObject(usage)) return null
  const count = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0)
  const [input, output] = [count(usage.prompt_tokens), count(usage.completion_tokens)]
  return input + output > 0 ? { input, output } : null
}

/** The content is a string or a list of text parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** Some models put their reasoning first, in `<think>` tags. */
const withoutReasoning = (text: string) => text.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, '')

function callOf(sent: unknown, index: number): Call {
  const { id, function: requested } = isObject(sent) ? sent : {}
  const { name, arguments: input } = isObject(requested) ? requested : {}
  return {
    id: typeof id === 'string' && /^[\w.:-]{1,200}$/.test(id) ? id : `call_${index + 1}`,
    name: typeof name === 'string' && /^[\w-]{1,64}$/.test(name) ? name : 'unknown',
    input: inputOf(input),
  }
}

/** Results are matched to calls by id, so two calls must not share one. */
const withUniqueId = (call: Call, index: number, all: Call[]) =>
  all.findIndex(({ id }) => id === call.id) === index ? call : { ...call, id: `${call.id}_${index + 1}` }

/** By the API it is JSON in a string. Some endpoints send an object, or nothing for a tool without input. */
function inputOf(sent: unknown): Call['input'] {
  if (sent === undefined || sent === null || sent === '') return {}
  try {
    const input = parseJson(Buffer.from(typeof sent === 'string' ? sent : JSON.stringify(sent)))
    return isObject(input) ? input : null
  } catch {
    return null
  }
}
