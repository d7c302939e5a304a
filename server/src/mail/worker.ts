import { setTimeout as sleep } from 'node:timers/promises'
import { plus } from '../clock.ts'
import type { MailConfig } from '../config.ts'
import type { Context } from '../context.ts'
import { isDatabaseUnavailable, isTimedOut } from '../db/database.ts'
import { type RateLimit, takeIfAllowed } from '../http/rate-window.ts'
import type { Wakeups } from '../relay/wakeups.ts'
import { WakeableSleep } from '../wakeable-sleep.ts'
import { type ClaimedMail, cancel, claimMail, endTrouble, pauseQueue, release, releaseAll, settle } from './claim.ts'
import type { Composed, Composers } from './compose.ts'
import { messageOf } from './message.ts'
import { afterAttempt, type Outcome } from './outcome.ts'
import { mailWakeup } from './queue.ts'
import { type Message, sendMail } from './smtp.ts'

/** Connections of one worker at the same time. */
const senders = 4
/** Finds mails that became due, and those of workers that died. */
const maxSleepMs = 5_000
/** Between attempts to store what the server answered, while the database is unavailable. */
const storeAgainMs = 500

export interface MailObserver {
  /** The server has no mailbox for the user's address. */
  addressRefused?: (userId: string, address: string, problem: string) => Promise<unknown>
  attempted?: (outcome: Outcome['kind'] | 'canceled') => void
}

/** Sends queued mails. Any number of workers may run one. */
export class MailWorker {
  readonly #ctx: Context
  readonly #composers: Composers
  readonly #observer: MailObserver
  /** Certificate authorities, in place of the system's. */
  readonly #ca: string | undefined
  readonly #sleep = new WakeableSleep()
  #off = () => {}
  #stopping = false
  #loop: Promise<void> | undefined

  constructor(ctx: Context, composers: Composers, observer: MailObserver = {}, ca?: string) {
    this.#ctx = ctx
    this.#composers = composers
    this.#observer = observer
    this.#ca = ca
  }

  /** Does nothing without SMTP. */
  start(wakeups: Wakeups) {
    const { mail } = this.#ctx.config
    if (!mail) return
    this.#off = wakeups.on(mailWakeup, () => this.#sleep.wake())
    this.#loop = this.#run(mail)
  }

  /** Starts no new attempt, and waits for those in progress. */
  async stop() {
    this.#stopping = true
    this.#off()
    this.#sleep.wake()
    await this.#loop
  }

  /** Sends every mail that is due. Called by the tests; a running service uses the loop. */
  async drain(): Promise<void> {
    const { mail } = this.#ctx.config
    if (mail) await this.#drain(mail)
  }

  async #run(server: MailConfig) {
    const { db, clock } = this.#ctx
    if (db.kind === 'embedded') await this.#guarded(() => releaseAll(db, clock.now()))
    while (!this.#stopping) {
      this.#sleep.clear()
      await this.#guarded(() => this.#drain(server))
      await this.#sleep.sleep(maxSleepMs)
    }
  }

  async #guarded(work: () => Promise<unknown>) {
    await work().catch(({ message }: Error) => {
      if (!this.#stopping) this.#ctx.log.warn({ message }, 'mail is delayed')
    })
  }

  async #drain(server: MailConfig) {
    const work = async () => {
      while (!this.#stopping && (await this.#sendNext(server)));
    }
    const ended = await Promise.allSettled(Array.from({ length: senders }, work))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  /** False: no mail is due, the queue is paused, or the rate is used up. */
  async #sendNext(server: MailConfig): Promise<boolean> {
    const { db, clock } = this.#ctx
    const claimed = await claimMail(db, clock.now())
    if (!claimed) return false
    const prepared = await this.#prepare(server, claimed)
    if (prepared === null) {
      await cancel(db, claimed, clock.now())
      this.#observer.attempted?.('canceled')
      return true
    }
    if ('kind' in prepared) return this.#record(server, claimed, prepared)
    const rate: RateLimit = { name: 'mails', max: server.ratePerMinute }
    const taken = await takeIfAllowed(this.#ctx, rate, 'all')
    if (!taken.allowed) {
      await release(db, claimed, plus(clock.now(), taken.reset_ms))
      return false
    }
    return this.#record(server, claimed, await sendMail(server, this.#ca, prepared))
  }

  /** The message, null if it must not be sent, or the outcome if it cannot be composed. */
  async #prepare(server: MailConfig, claimed: ClaimedMail): Promise<Message | Outcome | null> {
    const { address, messageId, addressRefused } = claimed
    if (claimed.expired || address === null) return null
    const { config, clock } = this.#ctx
    try {
      const composed = await this.#compose(claimed, address)
      if (!composed || (composed.unsubscribe && addressRefused)) return null
      const envelope = { to: address, messageId, date: clock.now() }
      return await messageOf(server, config.rootUrl, envelope, composed)
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      const { message } = error as Error
      this.#ctx.log.error({ mail_id: claimed.id, kind: claimed.kind, message }, 'a mail could not be composed')
      return { kind: 'uncertain', problem: 'The mail could not be composed.' }
    }
  }

  async #compose(claimed: ClaimedMail, address: string): Promise<Composed | null> {
    const { id, kind, userId, workspaceId, data, createdAt } = claimed
    const compose = this.#composers[kind]
    if (!compose) throw new Error(`no composer for mails of kind ${kind}`)
    const secret = claimed.secret === null ? null : this.#ctx.keys.open(claimed.secret, id)
    return compose(this.#ctx, { id, kind, userId, workspaceId, address, data, secret, createdAt })
  }

  async #record(server: MailConfig, claimed: ClaimedMail, outcome: Outcome): Promise<boolean> {
    const { db, clock, log } = this.#ctx
    const now = clock.now()
    this.#observer.attempted?.(outcome.kind)
    if (outcome.kind === 'unavailable') {
      log.warn({ reason: outcome.reason }, 'the mail server cannot be used; the queue is paused')
      await release(db, claimed, await pauseQueue(db, outcome.reason, now))
      return false
    }
    const next = afterAttempt(claimed.attempts, outcome, server.retryDelaysMs, now)
    await this.#untilStored(() => settle(db, claimed, next, now))
    if (outcome.kind !== 'uncertain') await endTrouble(db, now)
    if (outcome.kind === 'refused') {
      log.warn({ mail_id: claimed.id, kind: claimed.kind, problem: outcome.problem }, 'the mail server refused a mail')
      if (outcome.badAddress && claimed.userId && claimed.address)
        await this.#observer.addressRefused?.(claimed.userId, claimed.address, outcome.problem)
    }
    return true
  }

  /** A mail that the server took would be sent again if this were not stored. */
  async #untilStored(store: () => Promise<unknown>) {
    for (;;) {
      try {
        return await store()
      } catch (error) {
        if (this.#stopping || !(isDatabaseUnavailable(error) || isTimedOut(error))) throw error
        await sleep(storeAgainMs)
      }
    }
  }
}
