import type { Context } from '../context.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { advanceReplays } from './replay.ts'

/** Finds replays whose worker died. Otherwise the outcomes of their deliveries move them on. */
const maxSleepMs = 5_000

/** Feeds running replays to the delivery engine. Any number of workers may run one. */
export class ReplayRunner {
  readonly #ctx: Context
  readonly #sleep = new WakeableSleep()
  #stopping = false
  #loop: Promise<void> | undefined

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  start() {
    this.#loop = this.#run()
  }

  async stop() {
    this.#stopping = true
    this.wake()
    await this.#loop
  }

  /** Outcomes of replayed deliveries were written. */
  wake() {
    this.#sleep.wake()
  }

  async #run() {
    const { db, clock, log } = this.#ctx
    while (!this.#stopping) {
      this.#sleep.clear()
      const moved = await advanceReplays(db, clock.now()).catch(({ message }: Error) => {
        if (!this.#stopping) log.warn({ message }, 'could not move replays on')
        return 0
      })
      if (moved === 0) await this.#sleep.sleep(maxSleepMs)
    }
  }
}
