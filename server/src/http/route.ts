import type { Readable } from 'node:stream'
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
  /** The caller's network address; behind a proxy only as BATON_TRUST_PROXY allows. */
  address: string
  /** The id that a client of Linear's API chose for the new item. */
  alias?: Alias
  /** The body of a `raw` route. */
  upload: O['route'] extends { raw: true } ? Upload : undefined
}

/** A body that is read as it arrives. */
export interface Upload {
  body: Readable
  /** The declared length. The body may be shorter or longer. */
  bytes: number
  /**
   * Call after the body was read and before its result is stored: throws if the request was malformed, or if the
   * caller lost access while it arrived.
   */
  confirm(): Promise<void>
}

/** An id that a client chose, with a hash of its request: a repeated request finds the item. */
export interface Alias {
  clientId: string
  requestHash: Buffer
}

export type Headers = Record<string, string | string[] | undefined>

/** A response with headers, or with another status than the operation's default. */
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

/** A response with a secret: caches and proxies must not store it. */
export const uncached = <Body>(body: Body) => new Reply(body, { 'cache-control': 'no-store', pragma: 'no-cache' })

type Answer<O extends Operation> = O['route'] extends { stream: true } ? EventStream : AnswerOf<O> | Reply<AnswerOf<O>>
export type Handler<O extends Operation> = (call: Call<O>) => Answer<O> | Promise<Answer<O>>

/** An operation and its handler. */
export interface Mounted {
  operation: Operation
  handler: (call: never) => unknown
}

export const route = <O extends Operation>(operation: O, handler: Handler<O>): Mounted => ({ operation, handler })
