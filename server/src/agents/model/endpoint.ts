import { plus } from '../../clock.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import { counters, type ModelOutcome } from '../../counters.ts'
import { sendTrusted, type TrustedOutcome } from '../../outbound/trusted.ts'
import type { AgentSessionApi, Used } from '../agent-session-api.ts'
import { type Answer, answerIn, type Tokens } from './answer.ts'
import { bounds } from './bounds.ts'
import { ModelFailure } from './failure.ts'
import { recordHealth } from './health.ts'
import type { Message } from './prompt.ts'
import type { ToolDefinition } from './tools.ts'

export interface Question {
  messages: Message[]
  tools: ToolDefinition[]
  /** Identifies the request within its piece of work. */
  step: string
  /** Deadline for the whole piece of work. */
  until: Date
}

type Tried = { answer: Answer } | { failed: string; wait: number | 'default' | 'never' }

/** Client for OpenAI-compatible chat completions. No other file knows that protocol. */
export class ModelEndpoint {
  readonly #ctx: Context
  readonly #model: NonNullable<Config['model']>
  readonly #url: string

  constructor(ctx: Context, model: NonNullable<Config['model']>) {
    this.#ctx = ctx
    this.#model = model
    this.#url = completionsAt(model.url)
  }

  /** Retries while the model is busy or unreachable, within the bounds. */
  async ask(session: AgentSessionApi, question: Question): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const tried = await this.#try(question, session.aborted)
      if ('answer' in tried) return tried.answer
      const { failed, wait } = tried
      const waitMs = wait === 'default' ? (bounds.retryMs[tries - 1] ?? 0) : wait
      if (waitMs === 'never' || waitMs > bounds.longestWaitMs || tries === bounds.tries) {
        throw new ModelFailure('model_unavailable', failed)
      }
      if (plus(this.#ctx.clock.now(), waitMs) >= question.until) throw outOfTime()
      await session.thought(`${question.step} again ${tries}`, `The language model ${failed}. Retrying.`, 'ephemeral')
      await session.pause(waitMs)
    }
  }

  /** What an answer used, with its cost where the operator set a price. */
  priced({ input, output }: Tokens): Used {
    const { name, price } = this.#model
    // A price in dollars for a million tokens is one in millionths of a dollar for each.
    const cost = price ? Math.round(input * price.input + output * price.output) : null
    return { model: name, input, output, cost }
  }

  async #try({ messages, tools, until }: Question, aborted: AbortSignal): Promise<Tried> {
    const { clock } = this.#ctx
    const leftMs = until.getTime() - clock.now().getTime()
    if (leftMs <= 0) throw outOfTime()
    const { key, name } = this.#model
    const startedAt = performance.now()
    const outcome = await sendTrusted(clock, {
      url: this.#url,
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify({ model: name, messages, tools }),
      deadlineMs: Math.min(bounds.answerMs, leftMs),
      maxBodyBytes: bounds.answerBytes,
      aborted,
    })
    const answer = outcome.ok && outcome.status === 200 ? answerIn(outcome.body) : undefined
    counters.modelRequests.observe({ outcome: nameOf(outcome, answer) }, (performance.now() - startedAt) / 1000)
    if (answer) {
      await this.#record()
      return { answer }
    }
    const { failed, wait, bad } = judge(outcome, clock.now())
    await this.#record(failed)
    if (bad) throw new ModelFailure('model_bad_answer', failed)
    return { failed, wait }
  }

  /** A failure to store the health does not fail the work. */
  async #record(failure?: string) {
    const { log } = this.#ctx
    if (failure) log.warn({ failure }, 'the request to the model failed')
    await recordHealth(this.#ctx, this.#model, failure).catch((error: Error) =>
      log.warn({ message: error.message }, 'could not store the health of the model'),
    )
  }
}

/** The configured URL is that of the API or of the completions endpoint itself. */
export function completionsAt(address: string): string {
  const url = new URL(address)
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')}/chat/completions`
  return url.href
}

function nameOf(outcome: TrustedOutcome, answer: Answer | undefined): ModelOutcome {
  if (answer) return 'ok'
  if (!outcome.ok) return outcome.reason === 'too_large' ? 'bad_answer' : outcome.reason
  return outcome.status === 200 ? 'bad_answer' : 'http_error'
}

const outOfTime = () => new ModelFailure('model_limit_reached', 'I ran out of time')

interface Judged {
  failed: string
  wait: number | 'default' | 'never'
  bad?: true
}

const failures = { timeout: 'did not answer in time', network_error: 'could not be reached' }
const temporary = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])

/** The text never quotes the response: that can contain anything, including the key. */
function judge(outcome: TrustedOutcome, now: Date): Judged {
  if (!outcome.ok) {
    if (outcome.reason === 'too_large') return { failed: 'sent a response that is too large', wait: 'never', bad: true }
    return { failed: failures[outcome.reason], wait: 'default' }
  }
  const { status, headers } = outcome
  if (status === 200) return { failed: 'sent an invalid response', wait: 'never', bad: true }
  const failed = `answered with status ${status}`
  return { failed, wait: temporary.has(status) ? retryAfterMs(headers.get('retry-after'), now) : 'never' }
}

/** Retry-After is a number of seconds or a date. */
function retryAfterMs(retryAfter: string | null, now: Date): number | 'default' {
  if (!retryAfter) return 'default'
  const ms = /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now.getTime()
  return Number.isNaN(ms) ? 'default' : Math.max(0, ms)
}
