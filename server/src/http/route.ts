import type { AnswerOf, BodyOf, Operation, ParamsOf, QueryOf } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { CallerFor } from './caller.ts'
import type { EventStream } from './event-stream.ts'

export interface Call<O extends Operation = Operation> {
  ctx: Context
  caller: CallerFor<O['route']['caller']>
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  headers: Headers
  /** The caller's network address, as far as it can be believed. */
  address: string
}

export type Headers = Record<string, string | string[] | undefined>

/** An answer that needs more than its body: headers, or another status than the operation's first. */
export class Reply<Body> {
  readonly body: Body
  readonly headers: Record<string, string>
  readonly status: number | undefined
  constructor(body: Body, headers: Record<string, string>, status?: number) {
    this.body = body
    this.headers = headers
    this.status = status
  }
}

/** An answer with a secret in it: nobody on the way keeps a copy. */
export const unkept = <Body>(body: Body) => new Reply(body, { 'cache-control': 'no-store', pragma: 'no-cache' })

type Answer<O extends Operation> = O['route'] extends { stream: true } ? EventStream : AnswerOf<O> | Reply<AnswerOf<O>>
export type Handler<O extends Operation> = (call: Call<O>) => Answer<O> | Promise<Answer<O>>

/** An operation and the code that answers it. */
export interface Mounted {
  operation: Operation
  handler: (call: never) => unknown
}

export const route = <O extends Operation>(operation: O, handler: Handler<O>): Mounted => ({ operation, handler })
