import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock, Dedupe, WebhookEvent } from '@baton/sdk'
import { readIfExists } from '../files.ts'

/** An event is `received` until its prompt is sent, `begun` until its turn has ended. */
type Status = 'received' | 'begun' | 'finished'

interface Line {
  at: string
  id: string
  status: Status
  event?: WebhookEvent
}

/** Ids of finished events are kept longer than the service retries a delivery. */
const keptMs = 35 * 24 * 60 * 60 * 1000

/**
 * The events that this runner accepted, in a file that is only appended to. A line is on disk before `claim` or `mark`
 * resolves: a delivery is answered after that, and a prompt sent after that, so that no event is lost and no prompt is
 * sent twice.
 */
export class Journal implements Dedupe {
  readonly #clock: Clock
  readonly #entries: Map<string, Line>
  readonly #file: FileHandle
  #writing: Promise<void> = Promise.resolve()

  private constructor(clock: Clock, entries: Map<string, Line>, file: FileHandle) {
    this.#clock = clock
    this.#entries = entries
    this.#file = file
  }

  static async open(path: string, clock: Clock): Promise<Journal> {
    const entries = new Map<string, Line>()
    for (const text of ((await readIfExists(path)) ?? '').split('\n')) {
      const line = parse(text)
      if (!line) continue
      const event = line.event ?? entries.get(line.id)?.event
      entries.set(line.id, { ...line, ...(event && line.status !== 'finished' ? { event } : {}) })
    }
    const since = clock.now().getTime() - keptMs
    for (const [id, { status, at }] of entries) {
      if (status === 'finished' && Date.parse(at) < since) entries.delete(id)
    }
    const unfinished = `${path}.new`
    const file = await open(unfinished, 'w', 0o600)
    await file.writeFile([...entries.values()].map((line) => `${JSON.stringify(line)}\n`).join(''))
    await file.sync()
    await file.close()
    await rename(unfinished, path)
    await syncDirectory(dirname(path))
    return new Journal(clock, entries, await open(path, 'a', 0o600))
  }

  /** What an earlier runner has not finished, in the order received. */
  unfinished(): { event: WebhookEvent; begun: boolean }[] {
    return [...this.#entries.values()].flatMap(({ event, status }) =>
      event && status !== 'finished' ? [{ event, begun: status === 'begun' }] : [],
    )
  }

  async claim(id: string, event: WebhookEvent): Promise<boolean> {
    if (this.#entries.has(id)) {
      // The same event may be on its way to the disk; it counts as accepted only then.
      await this.#writing
      return false
    }
    const line: Line = { at: this.#now(), id, status: 'received', event }
    this.#entries.set(id, line)
    try {
      await this.#append([line])
    } catch (error) {
      // The service is answered 500 and sends it again.
      this.#entries.delete(id)
      throw error
    }
    return true
  }

  mark(ids: readonly string[], status: Exclude<Status, 'received'>): Promise<void> {
    const lines = ids.flatMap((id) => {
      const known = this.#entries.get(id)
      if (!known || known.status === status || known.status === 'finished') return []
      const line: Line = { at: this.#now(), id, status }
      this.#entries.set(id, status === 'finished' ? line : { ...line, ...(known.event ? { event: known.event } : {}) })
      return [line]
    })
    return lines.length === 0 ? Promise.resolve() : this.#append(lines)
  }

  async close() {
    await this.#writing.catch(() => {})
    await this.#file.close()
  }

  #now = () => this.#clock.now().toISOString()

  #append(lines: Line[]): Promise<void> {
    const written = this.#writing
      .catch(() => {})
      .then(async () => {
        await this.#file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        await this.#file.datasync()
      })
    this.#writing = written
    return written
  }
}

/** Without it, a failure of the machine could bring back the file that was replaced. */
async function syncDirectory(path: string) {
  // Windows cannot open a directory.
  const directory = await open(path, 'r').catch(() => null)
  await directory?.sync().catch(() => {})
  await directory?.close()
}

/** The last line may be incomplete, if the machine failed while it was written: it was not answered then. */
function parse(text: string): Line | null {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return null
  }
}
