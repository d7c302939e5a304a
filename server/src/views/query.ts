import { limits, viewKeys } from '@baton/protocol'
import { textProblem } from '../http/validate.ts'

const known = new Set<string>(viewKeys)

/** Returns the problem with the query of a view, if any. Screens that open the view rely on this check. */
export function queryProblem(query: string): string | undefined {
  for (const part of query === '' ? [] : query.split('&')) {
    const at = part.indexOf('=')
    const [key, value] = at < 0 ? [part, ''] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))]
    if (key === undefined || value === undefined) return 'must be a URL query with valid % escapes'
    if (!known.has(key)) return `must contain only these keys: ${viewKeys.join(', ')}`
    if ([...value].length > limits.viewValue) return `must not have a value of more than ${limits.viewValue} characters`
    const problem = textProblem(value)
    if (problem) return problem
  }
  return undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
