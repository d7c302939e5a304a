import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { urlsOfHosts } from '../database-url.ts'
import { isDatabaseUnavailable, isReadOnly, sqlState } from './database.ts'
import { keepAlive } from './link.ts'

/** Looks begin at most this often. */
const lookEveryMs = 250
const answerWithinMs = 2000
/** How long a primary that was found waits for the others' answers: an old primary that was cut off answers too. */
const othersWithinMs = 250

/** `system` identifies the cluster, which a restored or upgraded one does not share. */
type Primary = { url: string; is: 'primary'; system: string; timeline: number }
/** `gone`: in recovery, replaced, or nothing listens there. `silent`: no answer in time. `odd`: another kind of error. */
type Failed = { url: string; is: 'gone' | 'silent' | 'odd'; error: Error }
type Answer = Primary | Failed

/** No host is a primary. The code is that of a server that does not accept connections now. */
export class NoPrimary extends Error {
  readonly code = '57P03'
}

/**
 * Knows which host of DATABASE_URL is the primary: the one that is not in recovery. An old primary that was cut off does
 * not know that another was promoted, but its timeline is older: it is not used, also when it is the only one that answers.
 * With one host there is nothing to know.
 */
export class Hosts {
  readonly isSingle: boolean
  readonly #urls: string[]
  #primary: Pick<Primary, 'url' | 'system' | 'timeline'> | undefined
  #newest: Pick<Primary, 'system' | 'timeline'> | undefined
  #isAvailable: boolean
  #term = 0
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #problem: Error = new NoPrimary('no host of DATABASE_URL was asked yet')
  readonly #leavers = new Set<() => void>()

  constructor(url: string) {
    this.#urls = urlsOfHosts(url)
    this.isSingle = this.#urls.length === 1
    this.#isAvailable = this.isSingle
    if (this.isSingle) this.#primary = { url, system: '', timeline: 0 }
  }

  /** Of the primary, or of the last one. */
  get url(): string {
    return this.#primary?.url ?? (this.#urls[0] as string)
  }

  /** Changes when the primary does. A connection of an earlier term leads to a server that is no longer the primary. */
  get term() {
    return this.#term
  }

  /** Resolves when a primary is known; throws if there is none. */
  async available(): Promise<void> {
    if (this.#isAvailable) return
    await this.#look()
    if (!this.#isAvailable) throw this.#problem
  }

  /** To call when a connection was lost or refused: another server may be the primary now. */
  suspect() {
    if (!this.isSingle) void this.#look()
  }

  /** To call with the error of a statement. */
  suspectAfter(error: unknown) {
    if (isDatabaseUnavailable(error) || isReadOnly(error)) this.suspect()
  }

  /** Calls `leave` when connections have to be closed, because their server is no longer the primary. */
  onLeave(leave: () => void): () => void {
    this.#leavers.add(leave)
    return () => void this.#leavers.delete(leave)
  }

  /** Fails for a server in recovery: it answers, but takes no writes. */
  async verify(client: pg.ClientBase) {
    if (this.isSingle) return
    const { rows } = await client.query('select pg_is_in_recovery() as standby')
    if (!rows[0]?.standby) return
    this.suspect()
    throw new NoPrimary('the server is in recovery')
  }

  #look(): Promise<void> {
    if (this.#looking) return this.#looking
    const waitMs = this.#lookedAt + lookEveryMs - performance.now()
    this.#looking = this.#ask(waitMs).finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #ask(waitMs: number) {
    if (waitMs > 0) await sleep(waitMs)
    this.#lookedAt = performance.now()
    this.#conclude(await askAll(this.#urls))
  }

  #conclude(answers: Answer[]) {
    const judged = answers.map((answer) => this.#judge(answer))
    const [found] = judged.filter((answer) => answer.is === 'primary').sort((a, b) => b.timeline - a.timeline)
    if (found) {
      this.#isAvailable = true
      const { url, system, timeline } = found
      const known = this.#primary
      if (url === known?.url && system === known.system && timeline === known.timeline) return
      this.#primary = found
      this.#newest = found
      return this.#leave()
    }
    const failed = judged.filter((answer) => answer.is !== 'primary')
    const ofPrimary = failed.find(({ url }) => url === this.#primary?.url)
    // Such as too many connections: those that are open work.
    if (ofPrimary?.is === 'odd') return
    this.#problem = problemOf(failed)
    this.#isAvailable = false
    // A silent server may only be slow: its connections are not closed, but not used either until it answers.
    if (ofPrimary?.is === 'gone') {
      this.#primary = undefined
      this.#leave()
    }
  }

  #judge(answer: Answer): Answer {
    const newest = this.#newest
    if (answer.is !== 'primary' || answer.system !== newest?.system || answer.timeline >= newest.timeline) return answer
    const text = `another was promoted since: its timeline is ${answer.timeline}, not ${newest.timeline}`
    return { url: answer.url, is: 'gone', error: new Error(text) }
  }

  #leave() {
    this.#term++
    for (const leave of [...this.#leavers]) leave()
  }
}

/** The URL of the primary among the hosts of a URL, for a connection of its own. */
export async function findPrimary(url: string): Promise<string> {
  const hosts = new Hosts(url)
  await hosts.available()
  return hosts.url
}

/** Once one is a primary, waits only a little for the others. */
async function askAll(urls: string[]): Promise<Answer[]> {
  const answers: Answer[] = []
  const asking = urls.map(async (url) => {
    const answer = await ask(url)
    answers.push(answer)
    if (answer.is !== 'primary') throw answer.error
  })
  const all = Promise.allSettled(asking)
  const found = Promise.any(asking).then(
    () => sleep(othersWithinMs),
    () => {},
  )
  await Promise.race([all, found])
  return [...answers]
}

async function ask(url: string): Promise<Answer> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'baton hosts',
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
    ...keepAlive,
  })
  // Errors surface in the calls below.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(
      `select system_identifier::text as system,
         case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline
       from pg_control_system()`,
    )
    const { system, timeline } = rows[0] as { system: string; timeline: string | null }
    if (timeline !== null) return { url, is: 'primary', system, timeline: Number.parseInt(timeline, 16) }
    return { url, is: 'gone', error: new Error('it is in recovery') }
  } catch (error) {
    return { url, is: kindOf(error as Error), error: error as Error }
  } finally {
    client.end().catch(() => {})
  }
}

function kindOf(error: Error): 'gone' | 'silent' | 'odd' {
  if (/^(ECONNREFUSED|57P0[123])$/.test(String(sqlState(error)))) return 'gone'
  const isSilent = error.message === 'timeout expired' || (isDatabaseUnavailable(error) && sqlState(error) !== '53300')
  return isSilent ? 'silent' : 'odd'
}

/** A wrong password, for example, is not a reason to wait for a primary. */
function problemOf(failed: Failed[]): Error {
  const odd = failed.find(({ is }) => is === 'odd')
  if (odd) return odd.error
  const hosts = failed.map(({ url, error }) => `${new URL(url).host}: ${error.message}`)
  return new NoPrimary(`no host of DATABASE_URL is a primary (${hosts.join('; ')})`)
}
