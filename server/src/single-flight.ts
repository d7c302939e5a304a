/** Work that never runs twice at once for the same key: a call while it runs gets the result of that run. */
export class SingleFlight<Result> {
  readonly #running = new Map<string, Promise<Result>>()

  run(key: string, work: () => Promise<Result>): Promise<Result> {
    let running = this.#running.get(key)
    if (!running) {
      running = work().finally(() => this.#running.delete(key))
      this.#running.set(key, running)
    }
    return running
  }
}

/** Work that never runs twice at once, and runs once more if it was requested during a run. */
export class CoalescedTask {
  readonly #work: () => Promise<void>
  #requested = false
  #running: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when a run that began after this call has ended, and rejects when a run fails, which ends the runs. */
  request(): Promise<void> {
    this.#requested = true
    this.#running ??= this.#run()
    return this.#running
  }

  /** Resolves when no run is in progress. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run() {
    try {
      while (this.#requested) {
        this.#requested = false
        await this.#work()
      }
    } finally {
      // Runs synchronously after the last check of #requested, so no request is missed.
      this.#running = undefined
    }
  }
}
