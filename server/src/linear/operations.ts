import { type AnswerOf, isAgentSessionApi, type Operation } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { App } from '../http/caller.ts'
import type { Door, Input } from '../http/invoke.ts'
import { takeCall } from '../http/rate-window.ts'
import { callOperation } from '../tools/call.ts'

/** Calls operations of the API through the door, as the app. */
export class Operations {
  readonly #ctx: Context
  readonly #door: Door
  readonly #caller: App
  readonly #address: string

  constructor(ctx: Context, door: Door, caller: App, address: string) {
    this.#ctx = ctx
    this.#door = door
    this.#caller = caller
    this.#address = address
  }

  async call<O extends Operation>(operation: O, input: Partial<Input> = {}): Promise<AnswerOf<O>> {
    const whole = { params: {}, query: {}, body: undefined, headers: {}, address: this.#address, ...input }
    const { body } = await callOperation(this.#ctx, this.#door, this.#caller, operation, whole)
    return body as AnswerOf<O>
  }

  /** Throws unless the app may use the operation: for lists, whose filters and order REST does not have. */
  async admit(operation: Operation) {
    if (isAgentSessionApi(operation.route)) await takeCall(this.#ctx, this.#caller, operation.route)
    this.#door.admit(operation, { ...this.#caller, workspaceAsked: this.#caller.workspaceId })
  }
}
