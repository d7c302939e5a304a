import type { Clock } from '@baton/sdk'
import type { Outbox, SelectOption } from './outbox.ts'

/** A message of a person, by the event that brought it. */
export interface Message {
  eventId: string
  text: string
  /** Its position among the session's activities; 0 for the session's start. */
  seq: number
}

export interface Answer {
  text: string
  /** Values that were chosen. */
  selected: readonly string[]
  message: Message
}

/** A question that waits for an answer. */
export interface OpenQuestion {
  answer(answer: Answer): void
  /** Asks again, after an answer that does not count. */
  repeat(): void
}

interface QuestionHooks {
  outbox: Outbox
  clock: Clock
  timeoutMs: number
  /** The session waits for a person. */
  opened(): void
  closed(): void
}

/** Asks people, one question at a time. */
export class Questions {
  readonly #hooks: QuestionHooks
  #last: Promise<unknown> = Promise.resolve()
  #open: (OpenQuestion & { posted: Promise<number | null> }) | null = null
  /** A question was not answered in time. */
  unanswered = false

  constructor(hooks: QuestionHooks) {
    this.#hooks = hooks
  }

  /** The open question, if a message at this position was written after it. */
  async openBefore(seq: number): Promise<OpenQuestion | null> {
    const open = this.#open
    const askedAt = await open?.posted
    return open !== null && open === this.#open && typeof askedAt === 'number' && seq > askedAt ? open : null
  }

  /** Null if it was refused by the signal or the timeout, or could not be asked. */
  ask(body: string, options: SelectOption[], signal: AbortSignal): Promise<Answer | null> {
    const asked = this.#last.then(() => (signal.aborted ? null : this.#ask(body, options, signal)))
    this.#last = asked.catch(() => {})
    return asked
  }

  async #ask(body: string, options: SelectOption[], signal: AbortSignal): Promise<Answer | null> {
    const { outbox, clock, timeoutMs, opened, closed } = this.#hooks
    let settle: (answer: Answer | null) => void = () => {}
    const answered = new Promise<Answer | null>((resolve) => {
      settle = resolve
    })
    const post = () =>
      outbox.ask(body, options).then((activity) => {
        if (!activity) settle(null)
        return activity?.seq ?? null
      })
    const open = {
      answer: settle,
      posted: post(),
      repeat: () => {
        open.posted = post()
      },
    }
    const cancel = clock.after(timeoutMs, () => {
      this.unanswered = true
      settle(null)
    })
    const refuse = () => settle(null)
    signal.addEventListener('abort', refuse, { once: true })
    this.#open = open
    opened()
    try {
      return await answered
    } finally {
      cancel()
      signal.removeEventListener('abort', refuse)
      this.#open = null
      closed()
      outbox.answered()
    }
  }
}
