import type { RunnerContext } from './context.ts'
import type { Outbox } from './outbox.ts'
import { type Clean, type Said, Transcript } from './updates.ts'
import type { Workspace } from './workspace.ts'

const runningAfterMs = 1000
const changesEveryMs = 10_000
const checkSilenceMs = 60_000

export interface TurnHooks {
  clean: Clean
  said(said: Said): void
  cancel(why: 'silent' | 'limit'): void
  changed(): Promise<void>
  /** Whether nothing was said for so long that the session could become stale. */
  isSilent(): boolean
}

/** The timers and the transcript of one turn. */
export class Turn {
  readonly transcript: Transcript
  readonly #context: RunnerContext
  readonly #outbox: Outbox
  readonly #hooks: TurnHooks
  readonly #running = new Map<string, () => void>()
  #aliveAt: number
  #leftMs: number
  #startedAt: number
  #paused = 0
  #ended = false
  #changedSince = true
  #timers: (() => void)[] = []

  constructor(context: RunnerContext, workspace: Workspace, outbox: Outbox, hooks: TurnHooks) {
    this.#context = context
    this.#outbox = outbox
    this.#hooks = hooks
    this.transcript = new Transcript(workspace.names, hooks.clean)
    this.#aliveAt = this.#now()
    this.#startedAt = this.#now()
    this.#leftMs = context.settings.turnLimitMs
    this.#watchSilence()
    this.#watchLimit()
    this.#every(checkSilenceMs, () => {
      if (this.#paused === 0 && hooks.isSilent()) outbox.thinking(() => 'Still working.')
    })
    if (workspace.git) {
      this.#every(changesEveryMs, async () => {
        if (!this.#changedSince) return
        this.#changedSince = false
        await hooks.changed()
      })
    }
  }

  #now = () => this.#context.clock.now().getTime()

  /** Runs `work` repeatedly, each time `ms` after the last run has ended. */
  #every(ms: number, work: () => unknown) {
    const again = () => {
      if (this.#ended) return
      this.#timers.push(
        this.#context.clock.after(ms, async () => {
          await work()
          again()
        }),
      )
    }
    again()
  }

  alive() {
    this.#aliveAt = this.#now()
    this.#changedSince = true
  }

  update(update: unknown) {
    if (this.#ended) return
    for (const said of this.transcript.add(update, this.#now())) this.#hooks.said(said)
    const { toolCallId } = (update ?? {}) as { toolCallId?: unknown }
    if (typeof toolCallId === 'string') this.#showRunning(toolCallId)
  }

  /** A call that runs for a second is shown before it ends. */
  #showRunning(id: string) {
    const call = this.transcript.call(id)
    if (!call || call.done) {
      this.#running.get(id)?.()
      this.#running.delete(id)
    } else if (!this.#running.has(id)) {
      const cancel = this.#context.clock.after(runningAfterMs, () => {
        // Too many calls are open, and this one was forgotten.
        if (this.transcript.call(id) !== call) this.#running.delete(id)
        if (!call.done && !this.#ended) this.#outbox.acting(this.transcript.action(call, ''))
      })
      this.#running.set(id, cancel)
    }
  }

  /** Waiting for a person is neither silence nor work. */
  pause() {
    if (this.#paused++ === 0) this.#leftMs -= this.#now() - this.#startedAt
  }

  resume() {
    if (--this.#paused > 0) return
    this.#aliveAt = this.#now()
    this.#startedAt = this.#now()
    this.#watchLimit()
  }

  get #usedMs() {
    return this.#paused > 0 ? 0 : this.#now() - this.#startedAt
  }

  #watchSilence() {
    const { clock, settings } = this.#context
    const leftMs = this.#aliveAt + settings.silenceMs - this.#now()
    this.#timers.push(
      clock.after(Math.max(1, leftMs), () => {
        if (this.#ended) return
        if (this.#paused > 0) this.#aliveAt = this.#now()
        if (this.#now() - this.#aliveAt >= settings.silenceMs) this.#hooks.cancel('silent')
        else this.#watchSilence()
      }),
    )
  }

  #watchLimit() {
    this.#timers.push(
      this.#context.clock.after(Math.max(1, this.#leftMs), () => {
        if (!this.#ended && this.#paused === 0 && this.#usedMs >= this.#leftMs) this.#hooks.cancel('limit')
      }),
    )
  }

  end() {
    this.#ended = true
    for (const cancel of [...this.#timers, ...this.#running.values()]) cancel()
  }
}
