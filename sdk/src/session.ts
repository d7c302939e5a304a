import { randomUUID } from 'node:crypto'
import type { BatonClient } from './client.ts'
import { isBatonError } from './errors.ts'
import type { AgentActivity, AgentSession, NewAgentActivity, PlanItem } from './operations.ts'

export interface PostOptions {
  /** The service accepts each key once. Default: a random one, which all retries of this call share. */
  idempotencyKey?: string
}

export interface EphemeralOptions extends PostOptions {
  /** Shown only until your next activity. */
  ephemeral?: boolean
}

export interface Option {
  value: string
  label?: string
  description?: string
}

/** Callbacks for the dispatcher. */
export interface SessionEvents {
  /** An activity or a link, either of which counts as a first answer, is about to be posted. */
  posting?(): void
  /** The service refused a call because the session has ended. */
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
 * A session, for handlers. Activities are posted in the order of your calls, even if you do not await them. After
 * `signal` is aborted, because a person pressed Stop or the session ended, all calls throw.
 */
export class Session {
  readonly id: string
  /** As it was when the event happened. */
  readonly data: AgentSession
  readonly installationId: string
  /** For all other calls, as the app's user. */
  readonly client: BatonClient
  readonly signal: AbortSignal
  /** The context of a new session as XML, or the person's message. */
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

  /** Posts what you are about to do. */
  thought = (body: string, options?: EphemeralOptions) => this.#post({ content: { type: 'thought', body } }, options)

  /** Posts a step and its result. */
  action = (action: string, parameter = '', result?: string, options?: EphemeralOptions) =>
    this.#post({ content: { type: 'action', action, parameter, ...(result === undefined ? {} : { result }) } }, options)

  /** Posts a question. The answer arrives at `onPrompted`. */
  elicit = (body: string, options?: PostOptions) => this.#post({ content: { type: 'elicitation', body } }, options)

  /** Posts a question with choices. The answer arrives at `onPrompted`, in `session.selected`. */
  select = (
    body: string,
    choices: (string | Option)[],
    { allowMultiple = false, ...options }: PostOptions & { allowMultiple?: boolean } = {},
  ) =>
    this.#post(
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

  /** Requests that the person connects an account at an https URL of yours. */
  auth = (
    body: string,
    { url, providerName, userId }: { url: string; providerName?: string; userId?: string },
    options?: PostOptions,
  ) =>
    this.#post(
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

  /** Posts the final answer and completes the session. */
  respond = (body: string, options?: PostOptions) => this.#post({ content: { type: 'response', body } }, options)

  /** Posts an error and ends the work. `reasonCode` has up to 64 characters of a-z, 0-9 and _. */
  fail = (body: string, reasonCode?: string, options?: PostOptions) =>
    this.#post(
      { content: { type: 'error', body, ...(reasonCode === undefined ? {} : { reason_code: reasonCode }) } },
      options,
    )

  /** Replaces the whole plan. */
  setPlan = (items: (string | PlanItem)[]) =>
    this.#update({
      plan: items.map((item) => (typeof item === 'string' ? { content: item, status: 'pending' as const } : item)),
    })

  /** Adds a link to the session, such as a pull request. The same URL again replaces the label. */
  addUrl = (label: string, url: string) => {
    this.#events.posting?.()
    return this.#update({ added_external_urls: [{ label, url }] })
  }

  removeUrl = (url: string) => this.#update({ removed_external_urls: [url] })

  /** All activities, oldest first. Rebuild the conversation from these, not from comments. */
  async activities(): Promise<AgentActivity[]> {
    const all: AgentActivity[] = []
    for (let after_seq = 0; ; ) {
      const query = { session_id: this.id, after_seq, limit: 200 }
      const { data, has_more, last_seq } = await this.client.listActivities(query, { signal: this.signal })
      all.push(...data)
      // Guards against a service that reports more but returns nothing new.
      if (!has_more || !(last_seq > after_seq)) return all
      after_seq = last_seq
    }
  }

  #post(
    activity: NewAgentActivity,
    { ephemeral, idempotencyKey = randomUUID() }: EphemeralOptions = {},
  ): Promise<AgentActivity> {
    this.#events.posting?.()
    const body = { ...activity, ...(ephemeral ? { ephemeral } : {}) } as NewAgentActivity
    return this.#inTurn(() =>
      this.client.postActivity({ session_id: this.id, ...body }, { idempotencyKey, signal: this.signal }),
    )
  }

  /** Setting the plan or the links twice has the same effect as once, so the call may be repeated. */
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
    // A caller that does not await the result gets the error from `failed`: an unhandled rejection would end the process.
    this.#last = result.catch(() => {})
    return result
  }
}
