import { isBatonError } from '@baton/sdk'
import { type Changes, compare, summary } from './changes.ts'
import type { RunnerContext } from './context.ts'
import { Repository, Worktree } from './git.ts'
import type { SessionRecord } from './state.ts'
import { usageReport } from './usage.ts'

const usageEveryMs = 5000

interface ReportHooks {
  /** The service ended the session. */
  ended(why: string): void
  budgetReached(): void
  log(line: string): void
}

/** Reports the changes and the usage of a session to the service. */
export class Reports {
  readonly #context: RunnerContext
  readonly #record: SessionRecord
  readonly #hooks: ReportHooks
  #changes: Changes | null = null
  #sent: string | null = null
  #comparing: Promise<void> = Promise.resolve()
  #sending: Promise<void> = Promise.resolve()
  /** The limit that was reached, as the service said last. */
  reached: 'session' | 'month' | null = null
  #usageTimer: (() => void) | null = null
  #closed = false

  constructor(context: RunnerContext, record: SessionRecord, hooks: ReportHooks) {
    this.#context = context
    this.#record = record
    this.#hooks = hooks
  }

  /** The sum of the changes, for the last word. */
  get summary() {
    return this.#changes && this.#changes.files_total > 0 ? summary(this.#changes) : 'No files changed.'
  }

  /** Compares and sends, where a failure is only logged: it is done again at the turn's end. */
  changes(): Promise<void> {
    return this.compare()
      .then(() => this.sendChanges())
      .catch((error) => this.#failed('changes', error))
  }

  /** Finds out what the agent has changed. */
  compare(): Promise<void> {
    this.#comparing = this.#comparing.then(async () => {
      try {
        if (!this.#closed) this.#changes = (await this.#compare()) ?? this.#changes
      } catch (error) {
        this.#failed('changes', error)
      }
    })
    return this.#comparing
  }

  /** Sends the changes if they differ from those sent before. */
  sendChanges(): Promise<void> {
    const sent = this.#sending.then(() => this.#sendChanges())
    this.#sending = sent.catch(() => {})
    return sent
  }

  async #sendChanges() {
    const { client, allCalls } = this.#context
    const changes = this.#changes
    const text = JSON.stringify(changes)
    if (!changes || this.#closed || text === this.#sent || (this.#sent === null && changes.files_total === 0)) return
    const input = { session_id: this.#record.id, ...changes }
    await allCalls.run(() => client.setSessionChanges(input, { repeatable: true, timeoutMs: 60_000 }))
    this.#sent = text
  }

  async #compare(): Promise<Changes | null> {
    const { state, redactor, settings } = this.#context
    const { id, base, worktree: path, gitDir, repository: directory, pushed } = this.#record
    if (!base || !path || !gitDir || !directory) return null
    const worktree = new Worktree(path, gitDir)
    if (!(await worktree.exists())) return null
    const repository = await Repository.open(directory)
    const remote = settings.repositories.find((one) => one.path === directory)?.push
    return compare({
      worktree,
      base,
      index: state.at('indexes', id.slice(-8)),
      about: {
        repository: await repository.displayName(),
        remote_url: await repository.remoteUrl(remote),
        pushed: pushed !== undefined && pushed === (await worktree.head()),
      },
      redactor,
    })
  }

  usageLater() {
    this.#usageTimer ??= this.#context.clock.after(
      usageEveryMs,
      () => void this.sendUsage().catch((error) => this.#failed('usage', error)),
    )
  }

  async sendUsage() {
    this.#usageTimer?.()
    this.#usageTimer = null
    const { client, allCalls, settings, state } = this.#context
    const usage = usageReport(this.#record, settings.model)
    if (!usage || this.#closed) return
    await state.saveSession(this.#record)
    const change = { session_id: this.#record.id, usage }
    const session = await allCalls.run(() => client.updateAgentSession(change, { repeatable: true }))
    this.reached = session.budget_reached
    if (session.budget_reached) this.#hooks.budgetReached()
  }

  /** Sends nothing more. */
  close() {
    this.#closed = true
    this.#usageTimer?.()
  }

  #failed(what: string, error: unknown) {
    if (isBatonError(error, 'SESSION_ENDED')) this.#hooks.ended(error.message)
    else this.#hooks.log(`${what} could not be reported: ${(error as Error).message}`)
  }
}
