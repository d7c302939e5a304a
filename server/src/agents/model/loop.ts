import { limits, type PlanItem } from '@baton/protocol'
import { plus } from '../../clock.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import type { Outcome } from '../../tools/call.ts'
import type { Tool } from '../../tools/tool.ts'
import type { AgentSessionApi, Option } from '../agent-session-api.ts'
import type { Work } from '../work.ts'
import type { Answer, Call } from './answer.ts'
import { bounds } from './bounds.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { ModelFailure } from './failure.ts'
import { type Message, openingMessages, PromptTags } from './prompt.ts'
import { cleanText, truncate } from './text.ts'
import {
  askTool,
  callHash,
  createsNewItem,
  definitionsOf,
  describeInput,
  isWrite,
  planTool,
  summarizeOutcome,
  toolTitle,
} from './tools.ts'

/** Runs the model's tool calls and returns their results to it, until it gives a final answer or asks a question. */
export class ToolLoop {
  readonly #ctx: Context
  readonly #endpoint: ModelEndpoint
  readonly #work: Work
  readonly #session: AgentSessionApi
  readonly #tags = new PromptTags()
  /** Calls that this attempt has announced. */
  readonly #announced = new Set<string>()

  constructor(ctx: Context, endpoint: ModelEndpoint, work: Work, session: AgentSessionApi) {
    this.#ctx = ctx
    this.#endpoint = endpoint
    this.#work = work
    this.#session = session
  }

  /** Throws a ModelFailure if the model neither answers nor asks. */
  async run(): Promise<void> {
    const session = this.#session
    const began = this.#ctx.clock.now()
    const until = plus(began, bounds.workMs)
    const tools = definitionsOf(session.tools)
    const messages = await openingMessages(this.#work, session, this.#tags, began.toISOString().slice(0, 10))
    for (let number = 1; number <= bounds.answers; number++) {
      if (number === bounds.answers)
        messages.push({ role: 'user', content: 'This is your last turn. Give your final answer, without tools.' })
      if (Buffer.byteLength(JSON.stringify(messages)) > bounds.conversationBytes) {
        throw new ModelFailure('model_limit_reached', 'I had more to read than fits in one request')
      }
      // Includes the attempt, because a later attempt posts other activities, which must not be dropped as repeats.
      const step = `${this.#work.attempt}.${number}`
      const answer = await this.#endpoint.ask(session, { messages, tools, step, until })
      if (answer.tokens) await session.addUsage(this.#endpoint.priced(answer.tokens))
      if (answer.calls.length === 0 && answer.text) return session.respond(answer.text)
      messages.push(asMessage(answer))
      if (answer.text) await session.thought(step, answer.text)
      if (answer.calls.length === 0) {
        messages.push({ role: 'user', content: 'Your answer was empty. Call a tool or give your final answer.' })
      }
      for (const [index, call] of answer.calls.entries()) {
        const result = await this.#use(call, `${step}.${index}`, index)
        if (result === 'asked') return
        messages.push({ role: 'tool', tool_call_id: call.id, content: result })
      }
    }
    throw new ModelFailure('model_limit_reached', `I did not finish within ${bounds.answers} answers of the model`)
  }

  /** Returns the tool result for the model. An invalid call gets a result too, so that the model can correct it. */
  async #use({ name, input }: Call, step: string, index: number): Promise<string | 'asked'> {
    if (index >= bounds.calls) return `Not done: at most ${bounds.calls} calls per answer.`
    if (!input) return 'Not done: the arguments must be a JSON object.'
    if (name === planTool)
      return this.#reportInvalid(() => this.#session.plan((input.plan ?? null) as PlanItem[]), 'Plan updated.')
    if (name === askTool) return this.#reportInvalid(() => this.#ask(input), 'asked')
    const tool = this.#session.findTool(name)
    if (!tool) return `There is no tool ${name}.`
    const outcome = await this.#call(tool, input, step)
    return typeof outcome === 'string' ? outcome : this.#format(outcome)
  }

  async #call(tool: Tool, input: Record<string, unknown>, step: string): Promise<Outcome | string> {
    const session = this.#session
    const [action, parameter] = [toolTitle(tool), describeInput(input)]
    if (isWrite(tool)) {
      const mark = `w:${callHash(tool, input)}`
      if (createsNewItem(tool) && !this.#announced.has(mark) && (await session.hasPosted(mark))) return mayBeDone
      this.#announced.add(mark)
      await session.announce(mark, action, parameter)
    }
    const outcome = await session.call(tool, input)
    await session.action(step, action, parameter, summarizeOutcome(outcome))
    return outcome
  }

  #ask({ question, options }: Record<string, unknown>) {
    return this.#session.ask(cleanText(String(question ?? ''), limits.activityBody), (options ?? []) as Option[])
  }

  /** Returns validation errors to the model, which can correct them. Any other error ends the work. */
  async #reportInvalid<Done extends string>(work: () => Promise<void>, done: Done): Promise<Done | string> {
    try {
      await work()
      return done
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error
      return this.#format({ ok: false, refusal: error })
    }
  }

  #format(outcome: Outcome): string {
    const text = JSON.stringify(outcome.ok ? (outcome.body ?? 'Done.') : { error: outcome.refusal.body })
    return this.#tags.asData(truncate(text, bounds.resultCharacters))
  }
}

const mayBeDone =
  'Not done: you started this same call before you were interrupted, so it may already be done. Check; if it is not, say so in your final answer.'

/** The answer in the format that endpoints expect in the conversation, even if it arrived in another. */
const asMessage = ({ text, calls }: Answer): Message => ({
  role: 'assistant',
  content: text || null,
  ...(calls.length > 0
    ? {
        tool_calls: calls.map(({ id, name, input }) => ({
          id,
          type: 'function' as const,
          function: { name, arguments: JSON.stringify(input ?? {}) },
        })),
      }
    : {}),
})
