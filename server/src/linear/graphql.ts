import type { GraphqlAnswer, GraphqlError } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { App } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { graphqlError, graphqlTypeOf } from '../http/graphql-error.ts'
import type { Door } from '../http/invoke.ts'
import { Reply } from '../http/route.ts'
import { type Plan, planOf, type Step } from './document.ts'
import { Deadline, resolveStep } from './execute.ts'
import { Loaders } from './loaders.ts'
import { mutationType } from './mutations.ts'
import { Operations } from './operations.ts'
import { queryType } from './queries.ts'
import type { Run } from './type.ts'

/** Answers one GraphQL request. A refusal of one field is an error in the answer; the others are answered. */
export async function answerGraphql(ctx: Context, door: Door, caller: App, body: unknown, address: string) {
  const operations = new Operations(ctx, door, caller, address)
  let plan: Plan
  try {
    plan = planOf(body, { query: queryType, mutation: mutationType })
  } catch (error) {
    // A bad argument; problems of the document itself are refused with 400.
    if (!(error instanceof ApiError) || graphqlTypeOf(error) !== 'invalid input') throw error
    return new Reply<GraphqlAnswer>({ data: null, errors: [graphqlError(error)] }, {})
  }
  return execute({ ctx, caller, operations, load: new Loaders(ctx, caller), ignored: plan.ignored }, plan)
}

async function execute(run: Run, { kind, roots }: Plan): Promise<Reply<GraphqlAnswer>> {
  const unknown = roots.filter(({ field, name }) => !field && name !== '__typename')
  const errors: GraphqlError[] = unknown.map(({ key }) => notAccessible(key))
  // A mutation that cannot be done completely is not begun.
  if (kind === 'mutation' && unknown.length > 0) return new Reply<GraphqlAnswer>({ data: null, errors }, {})
  const data: Record<string, unknown> = Object.create(null)
  const deadline = new Deadline(run)
  let refusal: ApiError | undefined
  for (const step of roots) {
    try {
      data[step.key] = await answerOf(step, kind, run, deadline)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      data[step.key] = null
      errors.push(graphqlError(error, { path: [step.key] }))
      if (isOfWholeRequest(error)) refusal ??= error
    }
    // What a mutation changed is read again.
    if (kind === 'mutation') run.load = new Loaders(run.ctx, run.caller)
  }
  const isEmpty = errors.length > 0 && Object.values(data).every((value) => value === null)
  const body: GraphqlAnswer = {
    data: isEmpty ? null : data,
    ...(errors.length > 0 ? { errors } : {}),
    ...(run.ignored.size > 0 ? { extensions: { baton: { ignored: [...run.ignored] } } } : {}),
  }
  return new Reply(body, refusal?.headers ?? {}, refusal?.status === undefined ? 200 : statusOf(refusal))
}

const isOfWholeRequest = ({ status, code }: ApiError) => status === 401 || status === 429 || code === 'INVALID_REQUEST'
const statusOf = ({ status }: ApiError) => (status === 401 || status === 429 ? status : 400)

async function answerOf(step: Step, kind: Plan['kind'], run: Run, deadline: Deadline) {
  if (step.name === '__typename') return kind === 'query' ? 'Query' : 'Mutation'
  return (await resolveStep(step, [{}], run, deadline))[0] ?? null
}

const notAccessible = (key: string) =>
  graphqlError(new ApiError('ROUTE_NOT_FOUND', {}, { message: 'This field does not exist here.' }), {
    path: [key],
    type: 'feature not accessible',
  })
