import type { Clock } from '@baton/sdk'
import { Child, type ChildOptions } from './child.ts'
import { lastCharacters } from './text.ts'
import type { TurnAgent, TurnEnd, TurnEvents } from './turn-agent.ts'
import type { Clean } from './updates.ts'

export interface PlainOptions {
  child: Omit<ChildOptions, 'ended' | 'command'>
  clock: Clock
  events: TurnEvents
  clean: Clean
  command: readonly string[]
}

const argumentBytes = 100_000
const cutNote = '\n[The rest was cut: it is too long for an argument.]'
const responseLength = 32_000
const interruptMs = 10_000
const noteEveryMs = 1000

/** A command that gets the prompt on stdin or as an argument, and whose output is the answer: one process for a turn. */
export class PlainAgent implements TurnAgent {
  readonly #options: PlainOptions
  #child: Child | null = null
  #cancelTimer: (() => void) | null = null
  /** Each turn is a new process, told what it needs. */
  ended = false

  constructor(options: PlainOptions) {
    this.#options = options
  }

  async prompt(text: string): Promise<TurnEnd> {
    const { child: options, command, events, clean } = this.#options
    const child = new Child({ ...options, command: withPrompt(command, text), ended: () => {} })
    this.#child = child
    const { stdin, stdout } = child.process
    void child.noted.then(() => stdin?.end(takesArgument(command) ? '' : text))
    let output = ''
    const decoder = new TextDecoder()
    stdout?.on('data', (bytes: Buffer) => {
      output += decoder.decode(bytes, { stream: true })
      // Not cut within a secret.
      if (output.length > 8 * responseLength) output = clean(output).slice(-4 * responseLength)
      events.alive()
      events.output(output)
    })
    // In real time, because it looks at real processes.
    const noting = setInterval(() => void child.noteDescendants(), noteEveryMs)
    void child.noteDescendants()
    const { code, words } = await child.exited
    clearInterval(noting)
    this.#cancelTimer?.()
    this.#cancelTimer = null
    // What it wrote last may not have been read yet; a process that it left behind must not keep this open.
    await Promise.race([closed(child), new Promise((resolve) => setTimeout(resolve, 500).unref())])
    await child.kill()
    this.ended = true
    if (code !== 0) return { end: 'failed', reason: 'agent_failed', message: `The command ${words}.` }
    return { end: 'answered', text: lastCharacters(clean(output).trim(), responseLength) }
  }

  cancel(hurry = false) {
    const child = this.#child
    if (!child || this.#cancelTimer) return
    void child.noteDescendants()
    child.signal('SIGINT')
    this.#cancelTimer = this.#options.clock.after(hurry ? interruptMs / 2 : interruptMs, () => void child.kill())
  }

  async end() {
    await this.#child?.kill()
  }
}

const closed = (child: Child) => new Promise((resolve) => child.process.once('close', resolve))

export const takesArgument = (command: readonly string[]) => command.some((word) => word.includes('{prompt}'))

/** Puts the prompt in place of `{prompt}`, cut at its end if it is too long for an argument. */
export function withPrompt(command: readonly string[], text: string): string[] {
  if (!takesArgument(command)) return [...command]
  const bytes = Buffer.from(text.replaceAll('\0', ''))
  const fits = bytes.length <= argumentBytes
  const prompt = fits
    ? bytes.toString()
    : `${wholeCharacters(bytes.subarray(0, argumentBytes - cutNote.length))}${cutNote}`
  return command.map((word) => word.split('{prompt}').join(prompt))
}

/** Without a character that is cut at the end. */
const wholeCharacters = (bytes: Buffer) => new TextDecoder().decode(bytes, { stream: true })
