import { pathParams } from '@baton/protocol'
import { invalid } from '../http/errors.ts'
import type { Input } from '../http/invoke.ts'
import { textProblem } from '../http/validate.ts'
import type { Tool } from './tool.ts'

/**
 * Distributes the fields of a tool's flat input over path, query, body and headers. An unknown field goes to the body,
 * or to the query if there is no body, so that the door refuses it by name.
 */
export function callOf({ operation }: Tool, input: Record<string, unknown>): Omit<Input, 'address'> {
  const params = pathParams(operation.route.path)
  const queryFields = operation.query?.properties ?? {}
  const isParam = (name: string) => params.includes(name)
  const isKey = (name: string) => name === 'idempotency_key' && operation.idempotent === true
  const isQuery = (name: string) => Object.hasOwn(queryFields, name) || !operation.body
  // fromEntries defines own properties, so a field named __proto__ has no special effect.
  const pick = (belongs: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => belongs(name)))

  refuseNonText(
    params.map((name) => [name, Object.hasOwn(input, name) ? input[name] : undefined]),
    isKey('idempotency_key') ? input.idempotency_key : undefined,
  )
  const rest = (name: string) => !isParam(name) && !isKey(name)
  return {
    params: pick(isParam) as Record<string, string>,
    query: pick((name) => rest(name) && isQuery(name)),
    body: operation.body ? pick((name) => rest(name) && !isQuery(name)) : undefined,
    headers: isKey('idempotency_key') ? { 'idempotency-key': input.idempotency_key as string | undefined } : {},
  }
}

/** Over HTTP these are in the path and in a header, so they are always strings. */
function refuseNonText(params: [name: string, value: unknown][], key: unknown) {
  const problems = params
    .filter(([, value]) => typeof value !== 'string')
    .map(([name, value]) => [name, value === undefined ? 'is required' : 'must be a string'])
  const badKey = typeof key === 'string' ? textProblem(key) : key !== undefined && 'must be a string'
  if (badKey) problems.push(['idempotency_key', badKey])
  if (problems.length > 0) throw invalid(Object.fromEntries(problems))
}
