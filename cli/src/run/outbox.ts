import { randomUUID } from 'node:crypto'
import { type BatonClient, type Clock, isBatonError, type NewAgentActivity, type PlanItem } from '@baton/sdk'
import type { Pace } from './pace.ts'
import { firstCharacters, lastCharacters } from './text.ts'
import type { ActionContent } from './updates.ts'

export interface OutboxOptions {
  sessionId: string
  client: BatonClient
  clock: Clock
  /** Of this session's activities. */
  pace: Pace
  /** Of all calls of the runner. */
  allCalls: Pace
  /** Replaces secrets and private paths. */
  clean(text: string): string
  /** As `clean`, for text that goes on. */
  cleanSoFar(text: string): string
  /** The session takes nothing more. */
  ended(why: string): void
  posted(): void
  log(line: string): void
}

export interface SelectOption {
  value: string
  label: string
}

type Item =
  | { kind: 'thought'; body: string }
  | { kind: 'action'; content: ActionContent; merged?: { count: number; names: string[] } }
  | { kind: 'response'; body: string }
  | { kind: 'error'; body: string; reason: string }
  | {
      kind: 'question'
      body: string
      options: SelectOption[]
      asked: (posted: { id: string; seq: number } | null) => void
    }
  | { kind: 'plan'; items: PlanItem[] }
  | { kind: 'link'; label: string; url: string }
  | { kind: 'call'; call: () => Promise<void> }

type Ephemeral = { kind: 'thought'; body: () => string } | { kind: 'action'; content: ActionContent }

const bodyLength = 32_000
const thoughtEveryMs = 2000
const thoughtLength = 2000
/** From this many waiting actions on, neighbouring reads and searches become one. */
const mergeFrom = 20
/** Of the actions that become one, in its result. */
const mostNames = 100
const longestPauseMs = 15_000
/** An agent that has more to say has to wait. */
const mostWaiting = 200

/**
 * What a session has to say, in order and no faster than the service accepts. Ephemeral activities are dropped while
 * others wait. While a question is open, everything waits: an activity would end the session's `awaitingInput`.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #items: Item[] = []
  #ephemeral: Ephemeral | null = null
  #thoughtAt = Number.NEGATIVE_INFINITY
  #question = false
  #closed = false
  #running = false
  #idle: (() => void)[] = []
  #wakeLater: (() => void) | null = null
  #roomMade: (() => void)[] = []

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Shows what the agent thinks, at most every two seconds. Read when it is posted. */
  thinking(body: () => string) {
    this.#ephemeral = { kind: 'thought', body }
    this.#start()
  }

  /** Shows an action that is running. */
  acting(content: ActionContent) {
    this.#ephemeral = { kind: 'action', content }
    this.#start()
  }

  thought = (body: string) => this.#add({ kind: 'thought', body })
  response = (body: string) => this.#add({ kind: 'response', body })
  error = (reason: string, body: string) => this.#add({ kind: 'error', reason, body })
  link = (label: string, url: string) => this.#add({ kind: 'link', label, url })

  /** Calls the service in order with what is said, and again while it cannot be reached. */
  call = (call: () => Promise<void>) => this.#add({ kind: 'call', call })

  /** Resolves when little enough waits. */
  async room(): Promise<void> {
    if (this.#items.length >= mostWaiting) await new Promise<void>((resolve) => this.#roomMade.push(resolve))
  }

  #makeRoom() {
    if (this.#items.length < mostWaiting) for (const resolve of this.#roomMade.splice(0)) resolve()
  }

  action(content: ActionContent) {
    if (this.#closed) return
    this.#items.push({ kind: 'action', content })
    if (this.#items.filter(({ kind }) => kind === 'action').length >= mergeFrom) this.#merge()
    this.#start()
  }

  plan(items: PlanItem[]) {
    // The first item may be on its way.
    const waiting = this.#items.find((item, n) => item.kind === 'plan' && !(n === 0 && this.#running))
    if (waiting?.kind === 'plan') waiting.items = items
    else this.#add({ kind: 'plan', items })
  }

  /** Posts a question; nothing else is said until `answered`. Resolves to the activity, or null if it could not be posted. */
  ask = (body: string, options: SelectOption[]) =>
    new Promise<{ id: string; seq: number } | null>((asked) => this.#add({ kind: 'question', body, options, asked }))

  answered() {
    this.#question = false
    this.#start()
  }

  /** Resolves when everything is said, or the outbox was closed. */
  settled(): Promise<void> {
    if (this.#closed || (this.#items.length === 0 && !this.#running)) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /** Drops what waits, for a last word that cannot wait. */
  drop() {
    // The first is on its way.
    for (const item of this.#items.splice(this.#running ? 1 : 0)) if (item.kind === 'question') item.asked(null)
    this.#makeRoom()
  }

  /** Says nothing more. */
  close() {
    this.#closed = true
    for (const item of this.#items.splice(0)) if (item.kind === 'question') item.asked(null)
    this.#ephemeral = null
    this.#wakeLater?.()
    this.#makeRoom()
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #add(item: Item) {
    if (this.#closed) {
      if (item.kind === 'question') item.asked(null)
      return
    }
    this.#items.push(item)
    this.#start()
  }

  #merge() {
    const isLook = (item: Item | undefined) =>
      item?.kind === 'action' && /^(read|search)(, search|, read)?$/.test(item.content.action)
    for (let n = this.#items.length - 1; n > 0; n--) {
      const [before, item] = [this.#items[n - 1], this.#items[n]]
      if (!isLook(before) || !isLook(item) || before?.kind !== 'action' || item?.kind !== 'action') continue
      // The first one may be on its way.
      if (n - 1 === 0 && this.#running) continue
      this.#items.splice(n - 1, 2, merged(before, item))
    }
  }

  #start() {
    if (this.#running || this.#closed) return
    this.#running = true
    void this.#run().finally(() => {
      this.#running = false
      // Something may have come after the last look, when this was still marked as running.
      const isWaiting = this.#items.length > 0 || (this.#ephemeral !== null && this.#wakeLater === null)
      if (isWaiting && !this.#question) this.#start()
      if (this.#closed || this.#items.length === 0) for (const resolve of this.#idle.splice(0)) resolve()
    })
  }

  async #run() {
    for (;;) {
      if (this.#closed || this.#question) return
      const [item] = this.#items
      if (item) {
        this.#ephemeral = null
        await this.#post(item)
        if (this.#items[0] === item) this.#items.shift()
        this.#makeRoom()
        continue
      }
      const ephemeral = this.#ephemeral
      if (!ephemeral) return
      const waitMs = ephemeral.kind === 'thought' ? this.#thoughtAt + thoughtEveryMs - this.#now() : 0
      if (waitMs > 0) {
        this.#wakeLater?.()
        this.#wakeLater = this.#options.clock.after(waitMs, () => {
          this.#wakeLater = null
          this.#start()
        })
        return
      }
      this.#ephemeral = null
      if (ephemeral.kind === 'thought') this.#thoughtAt = this.#now()
      await this.#postEphemeral(ephemeral)
    }
  }

  #now = () => this.#options.clock.now().getTime()

  async #postEphemeral(ephemeral: Ephemeral) {
    const { cleanSoFar, clean } = this.#options
    const body = ephemeral.kind === 'thought' ? lastCharacters(cleanSoFar(ephemeral.body()), thoughtLength) : ''
    if (ephemeral.kind === 'thought' && body.trim() === '') return
    const activity: NewAgentActivity =
      ephemeral.kind === 'thought'
        ? { content: { type: 'thought', body }, ephemeral: true }
        : {
            content: {
              type: 'action',
              action: clean(ephemeral.content.action),
              parameter: clean(ephemeral.content.parameter),
            },
            ephemeral: true,
          }
    try {
      await this.#send(activity, randomUUID())
    } catch (error) {
      this.#isEnd(error)
    }
  }

  /** Repeats until the service has it or refuses it: it may be restarting. */
  async #post(item: Item) {
    const idempotencyKey = randomUUID()
    for (let pauseMs = 1000; !this.#closed; pauseMs = Math.min(longestPauseMs, 2 * pauseMs)) {
      try {
        await this.#deliver(item, idempotencyKey)
        return
      } catch (error) {
        if (this.#isEnd(error)) return
        const mayPass = isBatonError(error) && (error.status === 0 || error.status >= 500 || error.status === 429)
        this.#options.log(
          `${item.kind === 'call' ? 'A report' : 'An activity'} could not be sent: ${(error as Error).message}`,
        )
        if (!mayPass) {
          if (item.kind === 'question') item.asked(null)
          return
        }
        await new Promise<void>((resolve) => this.#options.clock.after(pauseMs, resolve))
      }
    }
  }

  async #deliver(item: Item, idempotencyKey: string) {
    const { sessionId: session_id, client, clean, allCalls } = this.#options
    const body = (text: string) => firstCharacters(clean(text), bodyLength).trim() || '…'
    switch (item.kind) {
      case 'call':
        return item.call()
      case 'plan':
        return allCalls.run(() =>
          client.updateAgentSession(
            {
              session_id,
              plan: item.items.map((one) => ({ ...one, content: firstCharacters(clean(one.content), 500) || '…' })),
            },
            { repeatable: true },
          ),
        )
      case 'link':
        return allCalls.run(() =>
          client.updateAgentSession(
            { session_id, added_external_urls: [{ label: item.label, url: item.url }] },
            { repeatable: true },
          ),
        )
      case 'thought':
        return this.#send({ content: { type: 'thought', body: body(item.body) } }, idempotencyKey)
      case 'action': {
        const { action, parameter, result } = item.content
        const content = {
          type: 'action' as const,
          action: clean(action) || 'tool',
          parameter: clean(parameter),
          result: clean(result),
        }
        return this.#send({ content }, idempotencyKey)
      }
      case 'response':
        return this.#send({ content: { type: 'response', body: body(item.body) } }, idempotencyKey)
      case 'error':
        return this.#send(
          { content: { type: 'error', body: body(item.body), reason_code: item.reason } },
          idempotencyKey,
        )
      case 'question': {
        const options = item.options.map(({ value, label }) => ({
          value,
          label: firstCharacters(clean(label), 255) || value,
        }))
        const activity: NewAgentActivity = {
          content: { type: 'elicitation', body: body(item.body) },
          signal: 'select',
          signal_metadata: { options },
        }
        // Before the call: nothing may follow it, and the answer can arrive before the response.
        this.#question = true
        try {
          item.asked(await this.#send(activity, idempotencyKey))
          return
        } catch (error) {
          this.#question = false
          throw error
        }
      }
    }
  }

  #send(activity: NewAgentActivity, idempotencyKey: string) {
    const { sessionId: session_id, client, pace, allCalls, posted } = this.#options
    return pace.run(() =>
      allCalls.run(async () => {
        const stored = await client.postActivity({ session_id, ...activity }, { idempotencyKey })
        posted()
        return stored
      }),
    )
  }

  #isEnd(error: unknown): boolean {
    if (!isBatonError(error)) return false
    const isEnd =
      error.code === 'SESSION_ENDED' ||
      error.status === 401 ||
      error.status === 404 ||
      error.code === 'REINSTALL_NEEDED'
    if (isEnd) {
      this.close()
      this.#options.ended(error.message)
    }
    return isEnd
  }
}

type ActionItem = Extract<Item, { kind: 'action' }>

function merged(first: ActionItem, second: ActionItem): ActionItem {
  const parts = ({ merged, content }: ActionItem) => merged ?? { count: 1, names: [content.parameter].filter(Boolean) }
  const [one, two] = [parts(first), parts(second)]
  const count = one.count + two.count
  const names = [...one.names, ...two.names].slice(0, mostNames)
  const kinds = [...new Set([...first.content.action.split(', '), ...second.content.action.split(', ')])]
  return {
    kind: 'action',
    merged: { count, names },
    content: { action: kinds.join(', '), parameter: `${count} times`, result: firstCharacters(names.join(', '), 400) },
  }
}
