import { Readable, Writable } from 'node:stream'
import type { Clock } from '@baton/sdk'
import {
  type AnyMessage,
  type ClientConnection,
  client,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from './acp-sdk.ts'
import { Child, type ChildOptions } from './child.ts'
import { firstCharacters } from './text.ts'
import { AgentFailure, type PermissionRequest, type TurnAgent, type TurnEnd, type TurnEvents } from './turn-agent.ts'
import { type Clean, tokensOf } from './updates.ts'

export interface AcpOptions {
  child: Omit<ChildOptions, 'ended'>
  clock: Clock
  events: TurnEvents
  clean: Clean
  mode?: string
  model?: string
  /** Baton's tools, for an agent that takes servers over HTTP. */
  tools: { url: string; secret: string } | null
  /** Each message, for --debug. */
  debug(direction: 'in' | 'out', message: unknown): void
}

/** How the ACP session was opened. */
type Opened = 'new' | 'continued'

interface StartedAgent {
  agent: AcpAgent
  opened: Opened
  sessionId: string
}

const openingMs = 60_000
const cancelMs = 15_000
const closedMs = 5000
const hurriedMs = 8000
const messageBytes = 32 * 1024 * 1024
const authRequired = -32000
/** An agent that does not read the answers to its requests has to wait. */
const mostUnanswered = 200
const longestSessionId = 1000
const noteEveryMs = 1000
/** Between the end of its output and that of a process. */
const exitMs = 1000

/** A process that speaks the Agent Client Protocol on its stdin and stdout, for one session. */
export class AcpAgent implements TurnAgent {
  readonly #options: AcpOptions
  readonly #child: Child
  readonly #connection: ClientConnection
  #sessionId = ''
  /** Updates of `session/load` repeat what was posted before. */
  #replaying = false
  #turn: AbortController | null = null
  #cancelTimers: (() => void)[] = []
  #stopNoting = () => {}
  #broken: string | null = null
  /** Requests of the agent. */
  #unanswered = 0
  #answered = () => {}

  private constructor(options: AcpOptions) {
    this.#options = options
    // What it wrote last may not have been read yet; a process that it left behind must not keep the connection open.
    const ended = () => void setTimeout(() => this.#connection?.close(), 500).unref()
    this.#child = new Child({ ...options.child, ended })
    const { stdin, stdout } = this.#child.process
    if (!stdin || !stdout) throw new AgentFailure('agent_crashed', 'The agent has no input or output.')
    const stream = ndJsonStream(
      Writable.toWeb(stdin) as WritableStream<Uint8Array>,
      (Readable.toWeb(stdout.on('error', () => {})) as unknown as ReadableStream<Uint8Array>).pipeThrough(
        this.#throttled(),
      ),
      { maxMessageBytes: messageBytes },
    )
    this.#connection = client({ name: 'baton' })
      .onRequest(
        'session/request_permission',
        (params: unknown) => params as never,
        ({ params, signal }) => this.#permission(params, signal),
      )
      .onRequest('*', ({ method }) => {
        throw RequestError.methodNotFound(method)
      })
      .connect({ readable: stream.readable.pipeThrough(this.#incoming()), writable: this.#outgoing(stream.writable) })
    void this.#connection.closed.then(() => this.#disconnected())
  }

  /** Starts the process and opens an ACP session, the earlier one if possible. */
  static async start(options: AcpOptions, earlier: string | undefined, signal: AbortSignal): Promise<StartedAgent> {
    const agent = new AcpAgent(options)
    await agent.#child.noted
    const abort = () => void agent.end()
    signal.addEventListener('abort', abort, { once: true })
    try {
      signal.throwIfAborted()
      const opened = await agent.#open(earlier)
      return { agent, opened, sessionId: agent.#sessionId }
    } catch (error) {
      await agent.end()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  get ended() {
    return this.#child.exit !== null || this.#connection.signal.aborted
  }

  /** The output has ended: the process can do nothing more, if it has not ended too. */
  async #disconnected() {
    const { reason } = this.#connection.signal
    const isTooLong = reason instanceof Error && reason.name === 'MessageTooLargeError'
    if (isTooLong) this.#broken = `sent a line of over ${messageBytes / 1024 / 1024} MB`
    else await Promise.race([this.#child.exited, new Promise((resolve) => setTimeout(resolve, exitMs).unref())])
    if (this.#child.exit) return
    this.#broken ??= 'closed its output'
    await this.#child.kill()
  }

  /** Reads from the agent only while there is room: one that floods blocks itself, and nothing is lost. */
  #throttled() {
    return new TransformStream<Uint8Array, Uint8Array>({
      transform: async (bytes, controller) => {
        await this.#options.events.room()
        while (this.#unanswered >= mostUnanswered) {
          await new Promise<void>((resolve) => {
            this.#answered = resolve
          })
        }
        controller.enqueue(bytes)
      },
    })
  }

  /**
   * Takes updates out in the order they came, before the connection resolves a response that follows them, and without
   * checking them against a schema: an unknown or malformed update is no error. Other notifications are not used.
   */
  #incoming() {
    const { events, debug } = this.#options
    return new TransformStream<AnyMessage, AnyMessage>({
      transform: (message: unknown, controller) => {
        debug('in', message)
        events.alive()
        if (typeof message !== 'object' || message === null) return
        const { method, id, params } = message as { method?: unknown; id?: unknown; params?: { update?: unknown } }
        if (method === 'session/update') {
          if (!this.#replaying) events.update(params?.update)
        } else if (typeof method === 'string' ? id !== undefined : typeof id === 'number') {
          if (typeof method === 'string') this.#unanswered++
          controller.enqueue(message as AnyMessage)
        }
      },
    })
  }

  #outgoing(writable: WritableStream<AnyMessage>): WritableStream<AnyMessage> {
    const writer = writable.getWriter()
    return new WritableStream({
      write: async (message) => {
        this.#options.debug('out', message)
        await writer.write(message).catch(() => {})
        if ('method' in message) return
        this.#unanswered--
        this.#answered()
      },
    })
  }

  async #open(earlier: string | undefined): Promise<Opened> {
    const { tools, child } = this.#options
    const initialized = await this.#opening('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'baton', version: '1' },
    })
    if (initialized.protocolVersion !== PROTOCOL_VERSION) {
      throw noAcp(
        `It speaks version ${this.#shown(initialized.protocolVersion)} of the protocol, not ${PROTOCOL_VERSION}.`,
      )
    }
    const authMethods = list(initialized.authMethods)
    const capabilities = record(initialized.agentCapabilities)
    const takesHttp = record(capabilities.mcpCapabilities).http === true
    const mcpServers =
      tools && takesHttp
        ? [
            {
              type: 'http',
              name: 'baton',
              url: tools.url,
              headers: [{ name: 'Authorization', value: `Bearer ${tools.secret}` }],
            },
          ]
        : []
    const where = { cwd: child.cwd, mcpServers }
    const canResume = Boolean(record(capabilities.sessionCapabilities).resume)
    if (earlier !== undefined && (canResume || capabilities.loadSession === true)) {
      const method = canResume ? 'session/resume' : 'session/load'
      this.#replaying = !canResume
      const continued = await this.#opening(method, { sessionId: earlier, ...where }, authMethods).catch((error) => {
        if (error instanceof AgentFailure && error.reason !== 'agent_failed') throw error
        return null
      })
      this.#replaying = false
      if (continued) {
        this.#sessionId = earlier
        await this.#setOptions(continued)
        return 'continued'
      }
    }
    const created = await this.#opening('session/new', where, authMethods)
    if (typeof created.sessionId !== 'string' || created.sessionId.length > longestSessionId)
      throw noAcp('It opened a session without an id.')
    this.#sessionId = created.sessionId
    await this.#setOptions(created)
    return 'new'
  }

  /** A request that must be answered within a minute. */
  async #opening(
    method: string,
    params: object,
    authMethods: Record<string, unknown>[] = [],
  ): Promise<Record<string, unknown>> {
    const { clock } = this.#options
    let cancel = () => {}
    const late = new Promise<'late'>((resolve) => {
      cancel = clock.after(openingMs, () => resolve('late'))
    })
    try {
      const answer = await Promise.race([this.#connection.agent.request(method, params), late])
      if (answer === 'late') throw noAcp(`It did not answer \`${method}\` within ${openingMs / 1000} seconds.`)
      return record(answer)
    } catch (error) {
      if (error instanceof AgentFailure) throw error
      const exit = this.#child.exit ?? (this.#connection.signal.aborted ? await this.#child.exited : null)
      if (exit) throw noAcp(`It ${this.#broken ?? exit.words} before it answered \`${method}\`.`)
      if (error instanceof RequestError && error.code === authRequired) {
        const names = authMethods.map(({ name, id }) => this.#shown(name ?? id)).join(', ')
        throw new AgentFailure(
          'agent_not_signed_in',
          `The agent needs a sign-in. Sign in once with the agent itself, on the runner's machine${names ? `: ${names}` : ''}.`,
        )
      }
      throw new AgentFailure('agent_failed', `The agent refused \`${method}\`: ${this.#messageOf(error)}`)
    } finally {
      cancel()
    }
  }

  /** Sets --mode and --model by a config option of that category, else by the mode. */
  async #setOptions(session: Record<string, unknown>) {
    const { mode, model } = this.#options
    for (const [category, value] of [
      ['mode', mode],
      ['model', model],
    ] as const) {
      if (value === undefined) continue
      const option = list(session.configOptions).find((one) => one.category === category)
      const modes = category === 'mode' ? list(record(session.modes).availableModes) : []
      const known = option ? valuesOf(option) : modes.map(({ id }) => String(id))
      if (!known.includes(value)) {
        const names = known.length > 0 ? `Known: ${known.map(this.#shown).join(', ')}.` : 'The agent offers none.'
        throw new AgentFailure('agent_bad_option', `The agent has no ${category} ${value}. ${names}`)
      }
      const sessionId = this.#sessionId
      if (option) await this.#opening('session/set_config_option', { sessionId, configId: option.id, value })
      else await this.#opening('session/set_mode', { sessionId, modeId: value })
    }
  }

  async prompt(text: string): Promise<TurnEnd> {
    const turn = new AbortController()
    this.#turn = turn
    this.#noteRepeatedly()
    try {
      const answer = record(
        await this.#connection.agent.request('session/prompt', {
          sessionId: this.#sessionId,
          prompt: [{ type: 'text', text }],
        }),
      )
      return { end: 'finished', stopReason: String(answer.stopReason), tokens: tokensOf(answer) }
    } catch (error) {
      if (this.#connection.signal.aborted || this.#child.exit) {
        const { words } = await this.#child.exited
        return { end: 'failed', reason: 'agent_crashed', message: `The agent ${this.#broken ?? words}.` }
      }
      return { end: 'failed', reason: 'agent_failed', message: `The agent failed: ${this.#messageOf(error)}` }
    } finally {
      turn.abort()
      this.#turn = null
      this.#stopNoting()
      for (const cancel of this.#cancelTimers.splice(0)) cancel()
    }
  }

  /** In real time, because it looks at real processes. */
  #noteRepeatedly() {
    const timer = setInterval(() => void this.#child.noteDescendants(), noteEveryMs)
    this.#stopNoting = () => clearInterval(timer)
    void this.#child.noteDescendants()
  }

  cancel(hurry = false) {
    const { clock } = this.#options
    const [graceMs, afterMs] = hurry ? [hurriedMs, hurriedMs / 4] : [cancelMs, closedMs]
    if (this.#cancelTimers.length > 0 || !this.#turn) return
    this.#turn.abort()
    void this.#connection.agent.notify('session/cancel', { sessionId: this.#sessionId }).catch(() => {})
    // Listed while the parents are there.
    void this.#child.noteDescendants()
    this.#cancelTimers.push(
      clock.after(graceMs, () => {
        void this.#child.noteDescendants().then(() => this.#child.process.stdin?.end())
      }),
      clock.after(graceMs + afterMs, () => void this.#child.kill()),
    )
  }

  async end() {
    this.#turn?.abort()
    await this.#child.kill()
    this.#connection.close()
  }

  #shown = (value: unknown) => firstCharacters(this.#options.clean(String(value)), 100)

  /** The agent's message, and the detail that JSON-RPC allows beside it. */
  #messageOf(error: unknown): string {
    const { message, data } = record(
      error instanceof Error ? { message: error.message, data: (error as { data?: unknown }).data } : error,
    )
    const detail = typeof data === 'string' ? data : (record(data).details ?? record(data).message)
    const parts = [message, detail].filter((part) => typeof part === 'string' && part !== '')
    return firstCharacters(this.#options.clean(parts.join(': ')), 2000)
  }

  async #permission(params: unknown, signal: AbortSignal) {
    const { toolCall, options } = record(params)
    const request: PermissionRequest = {
      toolCall: record(toolCall),
      options: list(options).flatMap(({ optionId, name, kind }) =>
        typeof optionId === 'string' && typeof kind === 'string' ? [{ optionId, name: String(name ?? ''), kind }] : [],
      ),
    }
    const ended = this.#turn ? AbortSignal.any([signal, this.#turn.signal]) : AbortSignal.abort()
    return { outcome: await this.#options.events.permission(request, ended) }
  }
}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
const list = (value: unknown) =>
  (Array.isArray(value) ? value : []).filter((one) => typeof one === 'object' && one !== null) as Record<
    string,
    unknown
  >[]

/** Values of a select option, which may be in groups. */
function valuesOf({ options }: Record<string, unknown>): string[] {
  return list(options).flatMap((one) => (Array.isArray(one.options) ? valuesOf(one) : [String(one.value)]))
}

const noAcp = (what: string) =>
  new AgentFailure(
    'agent_no_acp',
    `The command does not speak the Agent Client Protocol. ${what} It may need a flag, such as \`opencode acp\` or \`gemini --acp\`; run any other command with \`--plain\`.`,
  )
