import type { Db, Listening, Topics } from '../db/database.ts'
import type { Logger } from '../log.ts'

/**
 * Wakes the handler registered for an id: in this process, or by NOTIFY in another. Only the id is sent; the handler
 * reads the state from the database. A lost wake-up only causes a delay.
 */
export class Wakeups {
  readonly #db: Db
  readonly #log: Logger
  readonly #channel: string
  readonly #handlers = new Map<string, () => void>()
  #listening: Listening | undefined

  constructor(db: Db, log: Logger, topic: keyof Topics) {
    this.#db = db
    this.#log = log
    this.#channel = `baton_${topic}`
    db.onCommitted(topic, (ids) => {
      for (const id of ids) this.wake(id)
    })
  }

  /** Returns a function that removes the handler. The handler may be called when nothing changed. */
  on(id: string, handler: () => void): () => void {
    // Listens from the first handler on, because most processes have none. `listen` reports notifications missed before.
    this.#listening ??= this.#db.listen(this.#channel, (notified) => this.#received(notified))
    this.#handlers.set(id, handler)
    return () => void this.#handlers.delete(id)
  }

  wake(id: string) {
    const handler = this.#handlers.get(id)
    if (handler) return handler()
    this.#db.notify(this.#channel, id).catch(({ message }: Error) => {
      this.#log.warn({ message }, 'could not wake another process; it will find the work when it polls')
    })
  }

  async stop() {
    await this.#listening?.stop()
  }

  /** An empty id means that notifications may have been lost. */
  #received(id: string) {
    const handlers = id === '' ? [...this.#handlers.values()] : [this.#handlers.get(id)]
    for (const handler of handlers) handler?.()
  }
}
