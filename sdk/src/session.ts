import { randomUUID } from 'node:crypto'
import type { BatonClient } from './client.ts'
import { isBatonError } from './errors.ts'
import type { AgentActivity, AgentSession, NewAgentActivity, PlanItem } from './operations.ts'

export interface SayOptions {
  /** The same key never says a thing twice. Made at random if you give none, and kept on every retry. */
  idempotencyKey?: string
}

export interface PassingOptions extends SayOptions {
  /** Replaced on the panel by whatever you say next. */
  ephemeral?: boolean
}

export interface Option {
  value: string
  label?: string
  description?: string
}

/** What the session's owner wants to hear of. */
export interface SessionEvents {
  /** Something that counts as an answer is about to be said. */
  saying?(): void
  /** The service said that the session is over. */
  ended?(): void
  failed?(error: unknown): void
}

export interface SessionStart {
  session: AgentSession
  client: BatonClient
  installationId: string
  signal: AbortSignal
  prompt: string
  selected?: string[]
  events?: SessionEvents
}

/**
 * A session as its handler sees it. What you say is said in the order you say it, whether or not you wait. Once
 * `signal` is aborted, because somebody pressed Stop or the session ended, everything you say throws.
 */
export class Session {
  readonly id: string
  /** As it was when the event happened. */
  readonly data: AgentSession
  readonly installationId: string
  /** For every other call, as the app's user. */
  readonly client: BatonClient
  readonly signal: AbortSignal
  /** What is asked: the whole context of a new session as XML, or the person's message. */
  readonly prompt: string
  /** The values a person chose, if this answers a `select`. */
  readonly selected: string[]
  readonly #events: SessionEvents
  #last: Promise<unknown> = Promise.resolve()

  constructor({ session, client, installationId, signal, prompt, selected = [], events = {} }: SessionStart) {
    this.id = session.id
    this.data = session
    this.installationId = installationId
    this.client = client
    this.signal = signal
    this.prompt = prompt
    this.selected = selected
    this.#events = events
  }

  /** A short word on what you are about to do. */
  thought = (body: string, options?: PassingOptions) => this.#say({ content: { type: 'thought', body } }, options)

  /** A step, and what came of it. */
  action = (action: string, parameter = '', result?: string, options?: PassingOptions) =>
    this.#say({ content: { type: 'action', action, parameter, ...(result === undefined ? {} : { result }) } }, options)

  /** A question. The answer comes to `onPrompted`. */
  elicit = (body: string, options?: SayOptions) => this.#say({ content: { type: 'elicitation', body } }, options)

  /** A question with choices; what was chosen is in `session.selected` of `onPrompted`. */
  select = (
    body: string,
    choices: (string | Option)[],
    { allowMultiple = false, ...options }: SayOptions & { allowMultiple?: boolean } = {},
  ) =>
    this.#say(
      {
        content: { type: 'elicitation', body },
        signal: 'select',
        signal_metadata: {
          options: choices.map((choice) => (typeof choice === 'string' ? { value: choice } : choice)),
          allow_multiple: allowMultiple,
        },
      },
      options,
    )

  /** A request to connect an account at an https address of yours. */
  auth = (
    body: string,
    { url, providerName, userId }: { url: string; providerName?: string; userId?: string },
    options?: SayOptions,
  ) =>
    this.#say(
      {
        content: { type: 'elicitation', body },
        signal: 'auth',
        signal_metadata: {
          url,
          ...(providerName === undefined ? {} : { provider_name: providerName }),
          ...(userId === undefined ? {} : { user_id: userId }),
        },
      },
      options,
    )

  /** The final answer; the session is complete. */
  respond = (body: string, options?: SayOptions) => this.#say({ content: { type: 'response', body } }, options)

  /** It did not work. `reasonCode` has up to 64 characters of a-z, 0-9 and _. */
  fail = (body: string, reasonCode?: string, options?: SayOptions) =>
    this.#say(
      { content: { type: 'error', body, ...(reasonCode === undefined ? {} : { reason_code: reasonCode }) } },
      options,
    )

  /** Replaces the whole plan. */
  setPlan = (items: (string | PlanItem)[]) =>
    this.#update({
      plan: items.map((item) => (typeof item === 'string' ? { content: item, status: 'pending' as const } : item)),
    })

  /** A link to show with the session, such as a pull request; the same url again replaces its label. */
  addUrl = (label: string, url: string) => {
    this.#events.saying?.()
    return this.#update({ added_external_urls: [{ label, url }] })
  }

  removeUrl = (url: string) => this.#update({ removed_external_urls: [url] })

  /** Everything said so far, oldest first: rebuild the conversation from this, not from comments. */
  async activities(): Promise<AgentActivity[]> {
    const all: AgentActivity[] = []
    for (let after_seq = 0; ; ) {
      const query = { session_id: this.id, after_seq, limit: 200 }
      const { data, has_more, last_seq } = await this.client.listActivities(query, { signal: this.signal })
      all.push(...data)
      // One that says there is more and gives nothing would be asked for ever.
      if (!has_more || !(last_seq > after_seq)) return all
      after_seq = last_seq
    }
  }

  #say(
    activity: NewAgentActivity,
    { ephemeral, idempotencyKey = randomUUID() }: PassingOptions = {},
  ): Promise<AgentActivity> {
    this.#events.saying?.()
    const body = { ...activity, ...(ephemeral ? { ephemeral } : {}) } as NewAgentActivity
    return this.#inTurn(() =>
      this.client.postActivity({ session_id: this.id, ...body }, { idempotencyKey, signal: this.signal }),
    )
  }

  /** Saying twice what the plan or the links are changes nothing, so it may be repeated. */
  #update(change: Parameters<BatonClient['updateAgentSession']>[0] extends infer T ? Omit<T, 'session_id'> : never) {
    return this.#inTurn(() =>
      this.client.updateAgentSession({ session_id: this.id, ...change }, { signal: this.signal, repeatable: true }),
    )
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(async () => {
      this.signal.throwIfAborted()
      try {
        return await work()
      } catch (error) {
        if (isBatonError(error, 'SESSION_ENDED')) this.#events.ended?.()
        else if (!this.signal.aborted) this.#events.failed?.(error)
        throw error
      }
    })
    // Whoever does not wait hears of it through `failed`; an unhandled rejection would end the process.
    this.#last = result.catch(() => {})
    return result
  }
}
