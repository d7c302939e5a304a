import { limits } from '@baton/protocol'
import { ApiError } from './errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Strict JSON: valid UTF-8, no duplicate keys, limited depth and number of values. JSON.parse keeps the last of two
 * equal keys, while a proxy or a signature check may have seen the first.
 */
export function parseJson(bytes: Buffer): unknown {
  let value: unknown
  let text: string
  try {
    text = utf8.decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw refusal()
  }
  inspect(text)
  return value
}

const refusal = (why?: string) => new ApiError('INVALID_JSON', {}, why ? { message: `The request body ${why}.` } : {})

/** Expects well-formed JSON. */
function inspect(text: string) {
  const stack: (Set<string> | null)[] = []
  let values = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '{':
      case '[':
        if (stack.push(text[at] === '{' ? new Set() : null) > limits.bodyDepth) throw refusal('is nested too deeply')
        break
      case '}':
      case ']':
        stack.pop()
        break
      case ',':
        if (++values > limits.bodyValues) throw refusal('has too many values')
        break
      case '"': {
        const end = endOfString(text, at)
        const keys = stack.at(-1)
        if (keys && isKey(text, end)) {
          const key = JSON.parse(text.slice(at, end + 1)) as string
          if (keys.has(key)) throw refusal(`has the key ${JSON.stringify(key.slice(0, 100))} twice`)
          keys.add(key)
        }
        at = end
      }
    }
  }
}

function endOfString(text: string, start: number) {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function isKey(text: string, end: number) {
  let at = end + 1
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}
