export interface Job {
  /** Its place in the session; what began the session is 0. */
  seq: number
  /** Whether nothing is known to come before it; if not, it waits for that, or to be asked again. */
  isNext?(): Promise<boolean>
  run(): Promise<void>
}

/**
 * The work of one session, one thing after another. Nothing runs before it is known how the session began; of what
 * waits, the lowest `seq` goes first; once it is over, nothing runs any more.
 */
export class Lane {
  readonly installationId: string
  readonly issueId: string | null
  readonly teamId: string | null
  /** The event that opened the session was here. */
  created = false
  /** Something has run in it. */
  worked = false
  /** Somebody is finding out how it began. */
  searching = false
  /** Every `seq` that came. */
  readonly seen = new Set<number>()
  #begun = false
  #running = false
  readonly #controller = new AbortController()
  readonly #waiting: (Job & { settled: () => void; failed: (error: unknown) => void })[] = []

  constructor(about: { installationId: string; issueId: string | null; teamId: string | null }) {
    this.installationId = about.installationId
    this.issueId = about.issueId
    this.teamId = about.teamId
  }

  get begun() {
    return this.#begun
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get over() {
    return this.signal.aborted
  }

  get idle() {
    return !this.#running && this.#waiting.length === 0
  }

  /** Resolves when the job has run or was dropped, and rejects with what it threw. */
  add(job: Job): Promise<void> {
    if (this.over) return Promise.resolve()
    return new Promise((settled, failed) => {
      this.seen.add(job.seq)
      this.#waiting.push({ ...job, settled, failed })
      this.#waiting.sort((a, b) => a.seq - b.seq)
      void this.next()
    })
  }

  begin() {
    this.#begun = true
    void this.next()
  }

  /** Aborts what runs and drops what waits. */
  end(why: string) {
    if (this.over) return
    this.#controller.abort(new DOMException(why, 'AbortError'))
    for (const { settled } of this.#waiting.splice(0)) settled()
  }

  async next(): Promise<void> {
    const [job] = this.#waiting
    if (!this.#begun || this.#running || !job) return
    this.#running = true
    // Nobody waits for this method; what a job throws is for whoever added it.
    const isNext = (await job.isNext?.().catch(() => true)) ?? true
    if (this.#waiting[0] === job && isNext) {
      this.#waiting.shift()
      await job.run().then(job.settled, job.failed)
      this.worked = true
    }
    this.#running = false
    // Unless it still waits for what comes before it.
    if (isNext || this.#waiting[0] !== job) void this.next()
  }
}
