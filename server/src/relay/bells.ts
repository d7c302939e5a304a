import type { Db, Listening, Topics } from '../db/database.ts'
import type { Logger } from '../log.ts'

/**
 * Tells whoever waits for an id to look again: in this process, or by NOTIFY in another. Only the id travels; what it
 * is about stands in the database, so a bell that nobody hears costs time and nothing else.
 */
export class Bells {
  readonly #db: Db
  readonly #log: Logger
  readonly #channel: string
  readonly #hearers = new Map<string, () => void>()
  #listening: Listening | undefined

  constructor(db: Db, log: Logger, topic: keyof Topics) {
    this.#db = db
    this.#log = log
    this.#channel = `baton_${topic}`
    db.onNews(topic, (ids) => {
      for (const id of ids) this.ring(id)
    })
  }

  /** Returns what ends it. `heard` may be called for nothing. */
  on(id: string, heard: () => void): () => void {
    // Most processes never have anybody to hear for. What was rung before the connection stood is made up for.
    this.#listening ??= this.#db.listen(this.#channel, (rung) => this.#heard(rung))
    this.#hearers.set(id, heard)
    return () => void this.#hearers.delete(id)
  }

  ring(id: string) {
    const heard = this.#hearers.get(id)
    if (heard) return heard()
    this.#db.notify(this.#channel, id).catch(({ message }: Error) => {
      this.#log.warn({ message }, 'could not ring for another process; it looks by and by')
    })
  }

  async stop() {
    await this.#listening?.stop()
  }

  #heard(id: string) {
    const heard = id === '' ? [...this.#hearers.values()] : [this.#hearers.get(id)]
    for (const one of heard) one?.()
  }
}
