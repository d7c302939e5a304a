import { limits, type PlanItem } from '@baton/protocol'
import { plus } from '../../clock.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import type { Outcome } from '../../tools/call.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Hands, Option, Work } from '../mind.ts'
import type { Answer, Call } from './answer.ts'
import { bounds } from './bounds.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { ModelFailure } from './failure.ts'
import { Marks, type Message, openingOf } from './prompt.ts'
import { clean, cutOff } from './text.ts'
import { aboutCall, askTool, definitionsOf, inShort, inWords, makesAnother, markOf, planTool, writes } from './tools.ts'

/** The model asks for tools, gets what they answer, and so on until it has a last word or a question. */
export class ToolLoop {
  readonly #ctx: Context
  readonly #endpoint: ModelEndpoint
  readonly #work: Work
  readonly #hands: Hands
  readonly #marks = new Marks()
  /** Calls that this attempt has announced. */
  readonly #announced = new Set<string>()

  constructor(ctx: Context, endpoint: ModelEndpoint, work: Work, hands: Hands) {
    this.#ctx = ctx
    this.#endpoint = endpoint
    this.#work = work
    this.#hands = hands
  }

  /** Throws a ModelFailure if it comes to neither. */
  async run(): Promise<void> {
    const hands = this.#hands
    const began = this.#ctx.clock.now()
    const until = plus(began, bounds.workMs)
    const tools = definitionsOf(hands.tools)
    const messages = await openingOf(this.#work, hands, this.#marks, began.toISOString().slice(0, 10))
    for (let number = 1; number <= bounds.answers; number++) {
      if (number === bounds.answers)
        messages.push({ role: 'user', content: 'This is your last answer: no more tools.' })
      if (Buffer.byteLength(JSON.stringify(messages)) > bounds.conversationBytes) {
        throw new ModelFailure('model_limit_reached', 'I had more to read than I can keep in mind')
      }
      // Named by the attempt too: whoever takes over says other things, and they are to be heard.
      const step = `${this.#work.attempt}.${number}`
      const answer = await this.#endpoint.ask(hands, { messages, tools, step, until })
      if (answer.calls.length === 0 && answer.text) return hands.respond(answer.text)
      messages.push(asMessage(answer))
      if (answer.text) await hands.thought(step, answer.text)
      if (answer.calls.length === 0) {
        messages.push({ role: 'user', content: 'That was empty. Use a tool, or give your last word.' })
      }
      for (const [index, call] of answer.calls.entries()) {
        const result = await this.#use(call, `${step}.${index}`, index)
        if (result === 'asked') return
        messages.push({ role: 'tool', tool_call_id: call.id, content: result })
      }
    }
    throw new ModelFailure('model_limit_reached', `I came to no end within ${bounds.answers} answers of the model`)
  }

  /** What the model gets to read of it. A call that makes no sense is answered too, and it may mend it. */
  async #use({ name, input }: Call, step: string, index: number): Promise<string | 'asked'> {
    if (index >= bounds.calls) return `Not done: at most ${bounds.calls} calls at once.`
    if (!input) return 'Not done: the arguments are no JSON object.'
    if (name === planTool)
      return this.#tried(() => this.#hands.plan((input.plan ?? null) as PlanItem[]), 'The plan is shown.')
    if (name === askTool) return this.#tried(() => this.#ask(input), 'asked')
    const tool = this.#hands.toolNamed(name)
    if (!tool) return `There is no tool ${name}.`
    const outcome = await this.#call(tool, input, step)
    return typeof outcome === 'string' ? outcome : this.#shown(outcome)
  }

  async #call(tool: Tool, input: Record<string, unknown>, step: string): Promise<Outcome | string> {
    const hands = this.#hands
    const [action, parameter] = [inWords(tool), aboutCall(input)]
    if (writes(tool)) {
      const mark = `w:${markOf(tool, input)}`
      if (makesAnother(tool) && !this.#announced.has(mark) && (await hands.said(mark))) return begunBefore
      this.#announced.add(mark)
      await hands.announce(mark, action, parameter)
    }
    const outcome = await hands.call(tool, input)
    await hands.action(step, action, parameter, inShort(outcome))
    return outcome
  }

  #ask({ question, options }: Record<string, unknown>) {
    return this.#hands.ask(clean(String(question ?? ''), limits.activityBody), (options ?? []) as Option[])
  }

  /** What the contract does not take, the model can mend; anything else ends the work. */
  async #tried<Done extends string>(work: () => Promise<void>, done: Done): Promise<Done | string> {
    try {
      await work()
      return done
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error
      return this.#shown({ ok: false, refusal: error })
    }
  }

  #shown(outcome: Outcome): string {
    const text = JSON.stringify(outcome.ok ? (outcome.body ?? 'Done.') : { error: outcome.refusal.body })
    return this.#marks.asData(cutOff(text, bounds.resultCharacters))
  }
}

const begunBefore =
  'Not done: you began this very call before you were interrupted, so it may have been made. Look whether it was; if not, say so in your last word.'

/** As endpoints want to have it back, whatever it was that came. */
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
