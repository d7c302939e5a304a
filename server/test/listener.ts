import { setImmediate } from 'node:timers/promises'
import { limits, type RelayedAttempt } from '@baton/protocol'
import { onTestFinished } from 'vitest'
import { plus } from '../src/clock.ts'
import { sql } from '../src/db/sql.ts'
import type { TestApp, TestPerson } from './harness.ts'
import type { Received } from './receiver.ts'
import { type Heard, Watch } from './watch.ts'

export interface ListenOptions {
  takeOver?: boolean
  rootUrl?: string
}

/** Somebody who listens in place of an app's URL, over a real socket. */
export class Listener {
  readonly watch: Watch
  readonly #person: TestPerson
  readonly #path: string

  private constructor(watch: Watch, person: TestPerson, path: string) {
    this.watch = watch
    this.#person = person
    this.#path = path
  }

  /** Listens when it resolves, unless it was refused. */
  static async of(person: TestPerson, appId: string, { takeOver = false, rootUrl }: ListenOptions = {}) {
    const path = `/agent-apps/${appId}/listen`
    const query = takeOver ? '?take_over=true' : ''
    const watch = await Watch.as(person, { path: path + query, ...(rootUrl ? { rootUrl } : {}) })
    const listener = new Listener(watch, person, path)
    if (watch.status !== 200) return listener
    await listener.event()
    open.add(listener)
    onTestFinished(() => closeAll(person, appId))
    return listener
  }

  /** The next event; heartbeats are none. */
  async event() {
    for (;;) {
      const heard: Heard | undefined = await this.watch.next()
      if (!heard || 'event' in heard) return heard
    }
  }

  async attempt(): Promise<RelayedAttempt> {
    const heard = await this.event()
    if (heard?.event !== 'attempt') throw new Error(`not an attempt: ${JSON.stringify(heard)}`)
    return heard.data as RelayedAttempt
  }

  answer(attempt: RelayedAttempt, answer: object, person = this.#person) {
    return person.post(`${this.#path}/${attempt.attempt_id}`, answer)
  }

  /** Takes the next attempt and answers it. */
  async take(answer: object = { status: 200 }) {
    const attempt = await this.attempt()
    const { status } = await this.answer(attempt, answer)
    if (status !== 204) throw new Error(`the answer was refused with ${status}`)
    return attempt
  }

  close() {
    this.watch.close()
  }
}

const open = new Set<Listener>()

/** Nothing of a test is left to be cleared up during the next one; a service that has stopped has done so itself. */
async function closeAll(person: TestPerson, appId: string) {
  for (const listener of open) listener.close()
  open.clear()
  await unheard(person, appId).catch(() => {})
}

/** As a receiver at the URL would have seen it. */
export function asReceived({ headers, method, url, body }: RelayedAttempt): Received {
  const raw = Buffer.from(body, 'base64')
  return { headers, method, path: new URL(url).pathname, raw, body: JSON.parse(raw.toString()) }
}

/** Resolves when the app shows nobody who listens. */
export async function unheard(person: TestPerson, appId: string) {
  while ((await person.get(`/agent-apps/${appId}`)).body.listener) {}
}

/** Resolves when the worker has found that nothing more is due, so that nothing changes while attempts are out. */
export async function idle({ ctx, clock }: TestApp) {
  const due = sql`select 1 from endpoints where next_due_at <= ${clock.now()} and deleted_at is null`
  while (await ctx.db.row(due)) await setImmediate()
}

/** Lets the time of one heartbeat pass, with which the listener of the app keeps its lease. */
export async function heartbeat({ ctx, clock }: TestApp, appId: string) {
  clock.advance({ seconds: limits.heartbeatSeconds })
  const until = plus(clock.now(), 2 * limits.heartbeatSeconds * 1000)
  const kept = sql`select 1 from listeners where app_id = ${appId} and lease_until = ${until}`
  while (!(await ctx.db.row(kept))) await setImmediate()
}

/** An app that `person` registered and installed, that hears of issues, and what came of its deliveries. */
export async function listenable(app: TestApp, person: TestPerson, url: string) {
  const { app: agentApp } = await app.installed(person, { webhook: { url, resource_types: ['Issue'] } })
  const path = `/agent-apps/${agentApp.id}`
  return {
    id: agentApp.id as string,
    path,
    issue: (description = '') => person.post('/issues', { title: 'A bug', description }),
    deliveries: async () => (await person.get(`${path}/deliveries`)).body.data,
    listener: async () => (await person.get(path)).body.listener,
    secret: async () => (await person.post(`${path}/webhook-secret`)).body.webhook_secret as string,
  }
}
