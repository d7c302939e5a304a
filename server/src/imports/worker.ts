import type { Context } from '../context.ts'
import type { Wakeups } from '../relay/wakeups.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { workOnImport } from './run.ts'

/** Finds imports whose worker died. A new one wakes the worker. */
const maxSleepMs = 5_000
export const importWakeup = 'imports'

/** Reads and runs imports, one at a time in each process. Any number of processes may run one. */
export class ImportWorker {
  readonly #ctx: Context
  readonly #sleep = new WakeableSleep()
  readonly #stop = new AbortController()
  #off = () => {}
  #loop: Promise<void> | undefined

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  start(wakeups: Wakeups) {
    this.#off = wakeups.on(importWakeup, () => this.#sleep.wake())
    this.#loop = this.#run()
  }

  /** Stops after the current batch; another process continues. */
  async stop() {
    this.#off()
    this.#stop.abort()
    this.#sleep.wake()
    await this.#loop
  }

  /** Does all work that is due. */
  async drain() {
    while (!this.#stop.signal.aborted && (await workOnImport(this.#ctx, this.#stop.signal)));
  }

  async #run() {
    while (!this.#stop.signal.aborted) {
      this.#sleep.clear()
      await this.drain().catch(({ message }: Error) => {
        if (!this.#stop.signal.aborted) this.#ctx.log.warn({ message }, 'could not work on imports')
      })
      if (!this.#stop.signal.aborted) await this.#sleep.sleep(maxSleepMs)
    }
  }
}
