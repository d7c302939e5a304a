import type { Context } from '../context.ts'
import type { Wakeups } from '../relay/wakeups.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { claimRuns, performRun } from './perform.ts'
import { startDueRuns } from './schedule.ts'
import { runsWakeup } from './triggers.ts'

/** Finds schedules that are due, and runs whose worker died. A new run wakes the worker. */
const maxSleepMs = 1000
/** Runs of different automations that a process does at the same time. */
const atOnce = 4

/** Runs automations. Any number of processes may run one. */
export class AutomationWorker {
  readonly #ctx: Context
  readonly #sleep = new WakeableSleep()
  #stopped = false
  #off = () => {}
  #loop: Promise<void> | undefined

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  start(wakeups: Wakeups) {
    this.#off = wakeups.on(runsWakeup, () => this.#sleep.wake())
    this.#loop = this.#run()
  }

  /** Stops after the current runs; another process continues. */
  async stop() {
    this.#off()
    this.#stopped = true
    this.#sleep.wake()
    await this.#loop
  }

  /** Does all runs that are due. */
  async drain() {
    await startDueRuns(this.#ctx)
    while (!this.#stopped) {
      const claimed = await claimRuns(this.#ctx, atOnce)
      if (claimed.length === 0) return
      await Promise.all(
        claimed.map((one) =>
          // It stays claimed until its lease ends, and is claimed again.
          performRun(this.#ctx, one).catch(({ message }: Error) =>
            this.#ctx.log.warn({ run: one.id, message }, 'could not run an automation; retrying'),
          ),
        ),
      )
    }
  }

  async #run() {
    while (!this.#stopped) {
      this.#sleep.clear()
      await this.drain().catch(({ message }: Error) => {
        if (!this.#stopped) this.#ctx.log.warn({ message }, 'could not work on automations')
      })
      if (!this.#stopped) await this.#sleep.sleep(maxSleepMs)
    }
  }
}
