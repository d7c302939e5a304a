export interface Job {
  /** Its position in the session; the `created` event has 0. */
  seq: number
  /** Resolves to false while an earlier message is missing; `next` then has to be called again. */
  isNext?(): Promise<boolean>
  run(): Promise<void>
}

/**
 * Runs the jobs of one session one at a time, the lowest `seq` first. No job runs before `start`, which is called when
 * it is known how the session began, nor after `end`.
 */
export class SessionQueue {
  readonly installationId: string
  readonly issueId: string | null
  readonly teamId: string | null
  /** The `created` event has arrived. */
  created = false
  /** A job has run. */
  worked = false
  /** A request that finds out how the session began is in progress. */
  searching = false
  /** Every `seq` that was added. */
  readonly seen = new Set<number>()
  #started = false
  #running = false
  readonly #controller = new AbortController()
  readonly #waiting: (Job & { settled: () => void; failed: (error: unknown) => void })[] = []

  constructor(about: { installationId: string; issueId: string | null; teamId: string | null }) {
    this.installationId = about.installationId
    this.issueId = about.issueId
    this.teamId = about.teamId
  }

  get started() {
    return this.#started
  }

  /** Aborted by `end`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get ended() {
    return this.signal.aborted
  }

  get idle() {
    return !this.#running && this.#waiting.length === 0
  }

  /** Resolves when the job has run or was dropped, and rejects with what it threw. */
  add(job: Job): Promise<void> {
    if (this.ended) return Promise.resolve()
    return new Promise((settled, failed) => {
      this.seen.add(job.seq)
      this.#waiting.push({ ...job, settled, failed })
      this.#waiting.sort((a, b) => a.seq - b.seq)
      void this.next()
    })
  }

  start() {
    this.#started = true
    void this.next()
  }

  /** Aborts the running job and drops the waiting ones. */
  end(why: string) {
    if (this.ended) return
    this.#controller.abort(new DOMException(why, 'AbortError'))
    for (const { settled } of this.#waiting.splice(0)) settled()
  }

  async next(): Promise<void> {
    const [job] = this.#waiting
    if (!this.#started || this.#running || !job) return
    this.#running = true
    // This method is never awaited; an error of the job rejects the promise that `add` returned.
    const isNext = (await job.isNext?.().catch(() => true)) ?? true
    if (this.#waiting[0] === job && isNext) {
      this.#waiting.shift()
      await job.run().then(job.settled, job.failed)
      this.worked = true
    }
    this.#running = false
    // Not if the first job still waits for an earlier message.
    if (isNext || this.#waiting[0] !== job) void this.next()
  }
}
