import { setImmediate } from 'node:timers/promises'
import { limits, type RelayedAttempt } from '@baton/protocol'
import { onTestFinished } from 'vitest'
import { plus } from '../src/clock.ts'
import { sql } from '../src/db/sql.ts'
import type { Client } from './client.ts'
import type { InstalledApp, TestApp, TestPerson } from './harness.ts'
import type { Received } from './receiver.ts'
import { type StreamEvent, Watch } from './watch.ts'

export interface ListenOptions {
  takeOver?: boolean
  rootUrl?: string
}

/** A user who listens in place of an app's URL, over a real socket. */
export class Listener {
  readonly watch: Watch
  readonly #caller: Client
  readonly #path: string

  private constructor(watch: Watch, caller: Client, path: string) {
    this.watch = watch
    this.#caller = caller
    this.#path = path
  }

  /** Resolves when it listens, or was refused. */
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

  /** An app that listens with its own token. Resolves when it listens, or was refused. */
  static async asApp(robot: InstalledApp, person: TestPerson, { query = '' } = {}) {
    const headers = { authorization: `Bearer ${robot.token}`, 'x-workspace-id': person.workspaceId }
    const watch = await Watch.open({ rootUrl: robot.rootUrl, path: `/listen${query}`, headers })
    const listener = new Listener(watch, robot, '/listen')
    if (watch.status !== 200) return listener
    await listener.event()
    open.add(listener)
    onTestFinished(() => closeAll(person, robot.app.id))
    return listener
  }

  /** The next event, without heartbeats. */
  async event() {
    for (;;) {
      const received: StreamEvent | undefined = await this.watch.next()
      if (!received || 'event' in received) return received
    }
  }

  async attempt(): Promise<RelayedAttempt> {
    const received = await this.event()
    if (received?.event !== 'attempt') throw new Error(`not an attempt: ${JSON.stringify(received)}`)
    return received.data as RelayedAttempt
  }

  answer(attempt: RelayedAttempt, answer: object, caller = this.#caller) {
    return caller.post(`${this.#path}/${attempt.attempt_id}`, answer)
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

/** Waits for the clean-up, so that it does not run during the next test. Fails if the service has stopped already. */
async function closeAll(person: TestPerson, appId: string) {
  for (const listener of open) listener.close()
  open.clear()
  await waitForNoListener(person, appId).catch(() => {})
}

/** The attempt as a receiver at the URL would get it. */
export function asReceived({ headers, method, url, body }: RelayedAttempt): Received {
  const raw = Buffer.from(body, 'base64')
  return { headers, method, path: new URL(url).pathname, raw, body: JSON.parse(raw.toString()) }
}

/** Resolves when the app shows no listener. */
export async function waitForNoListener(person: TestPerson, appId: string) {
  while ((await person.get(`/agent-apps/${appId}`)).body.listener) {}
}

/** Resolves when the worker has found nothing more due, so that nothing changes while attempts wait for answers. */
export async function idle({ ctx, clock }: TestApp) {
  const due = sql`select 1 from endpoints where next_due_at <= ${clock.now()} and deleted_at is null`
  while (await ctx.db.row(due)) await setImmediate()
}

/** Advances the clock by one heartbeat, and waits until the app's listener has extended its lease. */
export async function heartbeat({ ctx, clock }: TestApp, appId: string) {
  clock.advance({ seconds: limits.heartbeatSeconds })
  const until = plus(clock.now(), 2 * limits.heartbeatSeconds * 1000)
  const kept = sql`select 1 from listeners where app_id = ${appId} and lease_until = ${until}`
  while (!(await ctx.db.row(kept))) await setImmediate()
}

/** An app that `person` registered and installed, subscribed to issues, and functions that read its deliveries. */
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
