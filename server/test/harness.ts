import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { api, type Role } from '@baton/protocol'
import { test as base, expect } from 'vitest'
import { countAsStart } from '../../conformance/times.ts'
import { A2aRunner } from '../src/a2a/runner.ts'
import { storeDueTransitions } from '../src/agent-sessions/timers.ts'
import type { AgentStrategy } from '../src/agents/agent-strategy.ts'
import { chooseStrategy } from '../src/agents/choose-strategy.ts'
import { createBuiltInAgent } from '../src/agents/inside-agents.ts'
import { AgentRunner } from '../src/agents/runner.ts'
import { createApp } from '../src/app.ts'
import { AutomationWorker } from '../src/automations/worker.ts'
import { type Config, readConfig } from '../src/config.ts'
import type { Context } from '../src/context.ts'
import { Keyring, newSecret, sha256 } from '../src/crypto.ts'
import { Sql, sql } from '../src/db/sql.ts'
import { EndpointWaker } from '../src/delivery/endpoint-waker.ts'
import { DeliveryWorker } from '../src/delivery/worker.ts'
import { advanceReplays } from '../src/events/replay.ts'
import { workOnArchives } from '../src/exports/worker.ts'
import type { Member, Person } from '../src/http/caller.ts'
import type { Door } from '../src/http/invoke.ts'
import { openApi } from '../src/http/openapi.ts'
import { newId } from '../src/ids.ts'
import { ImportWorker } from '../src/imports/worker.ts'
import { queueNotifications } from '../src/inbox/due-mails.ts'
import { endSnoozes } from '../src/inbox/threads.ts'
import type { Live } from '../src/live/live.ts'
import { createLog } from '../src/log.ts'
import { responsesSettled } from '../src/login/after-response.ts'
import { hashPassword } from '../src/login/passwords.ts'
import { createAccount } from '../src/login/sign-up.ts'
import type { MailWorker } from '../src/mail/worker.ts'
import { createMailWorker } from '../src/mails.ts'
import { GuardedClient } from '../src/outbound/client.ts'
import { remindOfExpiry } from '../src/personal-tokens/mails.ts'
import { Relay } from '../src/relay/relay.ts'
import { Wakeups } from '../src/relay/wakeups.ts'
import { openStorage } from '../src/storage-check.ts'
import { readWebFiles } from '../src/web/files.ts'
import { acceptInvitation, invite } from '../src/workspaces/invitations.ts'
import { createWorkspace } from '../src/workspaces/workspaces.ts'
import { Client } from './client.ts'
import { TestClock } from './clock.ts'
import { Contract } from './contract.ts'
import { openSameDatabase, openTestDatabase } from './database.ts'
import { Receiver } from './receiver.ts'
import { SmtpServer } from './smtp.ts'

export { verifies, verifiesOnPostgres } from '../../conformance/requirements.ts'

export interface TestPerson extends Client {
  user: { id: string; display_name: string; email: string }
  token: string
  password: string
  /** Empty outside a workspace. */
  workspaceId: string
}

export type InstalledApp = Awaited<ReturnType<TestApp['installed']>>
export type TestWorkspace = Awaited<ReturnType<TestApp['workspace']>>

let people = 0
const password = 'correct horse'
let passwordHash: Promise<string> | undefined
/** Shared: the documents differ only in their address, which is not checked, and compiling is slow. */
let contract: Contract | undefined

/** A whole service with its own database, on a real port, with a clock that the test moves. */
export class TestApp {
  readonly ctx: Context
  readonly clock: TestClock
  readonly door: Door
  readonly live: Live
  readonly rootUrl: string
  /** Calls without credentials. */
  readonly anonymous: Client
  readonly stop: () => Promise<void>
  /** Sends to A2A agents and follows their tasks. */
  readonly a2a: A2aRunner
  readonly #waker: EndpointWaker
  readonly #worker: DeliveryWorker
  readonly #wakeups: Wakeups
  readonly #mails: MailWorker
  #dump: Sql | undefined
  #seen = { snapshot: '', stored: '' }

  private constructor(
    ctx: Context,
    clock: TestClock,
    rootUrl: string,
    contract: Contract,
    door: Door,
    live: Live,
    stop: () => Promise<void>,
  ) {
    this.ctx = ctx
    this.door = door
    this.live = live
    this.#wakeups = new Wakeups(ctx.db, ctx.log, 'work')
    this.#waker = new EndpointWaker(ctx.db, clock, ctx.log)
    this.a2a = new A2aRunner(ctx, door)
    this.#worker = new DeliveryWorker(ctx, this.#waker, {}, this.a2a.sender)
    this.#mails = createMailWorker(ctx)
    this.clock = clock
    this.rootUrl = rootUrl
    this.anonymous = new Client(rootUrl, contract)
    this.stop = async () => {
      await this.a2a.kill()
      await stop()
    }
  }

  /** With `beside`, on the same database as that app, like a second process; with the web app built in `webDir`. */
  static start(env: Record<string, string> = {}, beside?: TestApp, webDir?: string): Promise<TestApp> {
    return countAsStart(() => TestApp.#start(env, beside, webDir))
  }

  static async #start(env: Record<string, string>, beside?: TestApp, webDir?: string): Promise<TestApp> {
    const clock = beside?.clock ?? new TestClock()
    // Receivers of tests listen on localhost. On a busy machine any statement can be slow, and tests compare the log.
    const config: Config = readConfig({ BATON_WEBHOOK_ALLOW: 'localhost', BATON_SLOW_MS: '0', ...env })
    const filesDir = !beside && config.files?.kind === 'directory' ? mkdtempSync(join(tmpdir(), 'baton-files-')) : null
    if (config.files?.kind === 'directory')
      config.files = beside?.ctx.config.files ?? { kind: 'directory', path: filesDir ?? '' }
    const db = await (beside ? openSameDatabase(beside.ctx.db) : openTestDatabase())
    const storage = await openStorage(config, db)
    const outbound = new GuardedClient({ allow: config.webhookAllow, clock })
    const [keys, log] = [beside?.ctx.keys ?? new Keyring(randomBytes(32)), createLog('silent')]
    const relay = new Relay(db, clock, log)
    const ctx = { config, clock, keys, log, db, outbound, relay, storage }
    const { http, door, live } = await createApp(
      ctx,
      { stopping: false },
      undefined,
      webDir ? readWebFiles(webDir) : null,
    )
    await http.listen({ host: '127.0.0.1', port: 0 })
    const rootUrl = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}`
    contract ??= new Contract(openApi(api, config) as never)
    return new TestApp(ctx, clock, rootUrl, contract, door, live, async () => {
      await http.close()
      await responsesSettled(ctx)
      await relay.stop()
      await outbound.close()
      await db.close()
      if (filesDir) rmSync(filesDir, { recursive: true, force: true })
    })
  }

  /** Sends every delivery that is due by the test's clock, and waits for the results. */
  deliver() {
    return waitedFor(this.#deliver())
  }

  async #deliver() {
    await this.#worker.recover()
    do await this.#worker.drain()
    while ((await advanceReplays(this.ctx.db, this.clock.now())) > 0)
  }

  /** Does all waiting work of the agents inside the service, with their own strategy or another. */
  work(strategy: AgentStrategy = chooseStrategy(this.ctx)) {
    return waitedFor(new AgentRunner(this.ctx, this.door, this.#wakeups, strategy).drain())
  }

  /** Reads and runs the imports that are due. */
  workOnImports() {
    return waitedFor(new ImportWorker(this.ctx).drain())
  }

  /** Starts the schedules that are due, and does all runs. */
  workOnAutomations() {
    return waitedFor(new AutomationWorker(this.ctx).drain())
  }

  /** Sends every mail that is due by the test's clock. Needs `SmtpServer.env`. */
  sendMails() {
    return waitedFor(responsesSettled(this.ctx).then(() => this.#mails.drain()))
  }

  /** Queues the notifications and reminders that are due, and sends all mails. */
  async sendNotifications() {
    await endSnoozes(this.ctx.db, this.clock.now())
    await queueNotifications(this.ctx)
    await remindOfExpiry(this.ctx)
    await this.sendMails()
  }

  /** Writes and restores the archives that wait. */
  async workOnArchives() {
    while ((await workOnArchives(this.ctx, createBuiltInAgent)) > 0);
  }

  /** Stores the session transitions that are due, as a worker does every second. */
  async tick() {
    await storeDueTransitions(this.ctx)
  }

  /** Waits until endpoints are marked due and workers woken. */
  async endpointsWoken() {
    await this.#waker.idle()
  }

  /** A new account. All share one password, because hashing is the slowest part. */
  async person(name = `Person ${++people}`): Promise<TestPerson> {
    passwordHash ??= hashPassword(password)
    const email = `person-${++people}@example.com`
    const { user, token } = await createAccount(this.ctx, { email, name, passwordHash: await passwordHash })
    return Object.assign(this.anonymous.with({ authorization: `Bearer ${token}` }), {
      user,
      token,
      password,
      workspaceId: '',
    })
  }

  /** A workspace with an owner, an admin and a member, each a client that calls within it. Most tests begin with one. */
  async workspace(name = 'Acme') {
    const founder = await this.person()
    const { id } = await createWorkspace(this.ctx, callerOf(founder), name, createBuiltInAgent)
    const owner = within(founder, id)
    const join = async (role: Role) => {
      const person = await this.person()
      const asOwner: Member = { ...callerOf(owner), workspaceId: id, role: 'owner' }
      // Tests that count mails find only their own.
      const withoutMail = { ...this.ctx, config: { ...this.ctx.config, mail: null } }
      const { token } = await invite(withoutMail, asOwner, { email: person.user.email, role })
      await acceptInvitation(this.ctx, callerOf(person), token)
      return within(person, id)
    }
    return { id, owner, admin: await join('admin'), member: await join('member'), join }
  }

  /** A client with the token of an app that `owner` registered and installed, for these scopes and teams. */
  async installed(
    owner: TestPerson,
    {
      scopes = ['read', 'write'],
      teamIds = null as string[] | null,
      name = `Robot ${++people}`,
      /** The app's webhook, if it has one. */
      webhook = null as { url: string; resource_types?: string[]; enabled?: boolean } | string | null,
    } = {},
  ) {
    const { body } = await owner.post('/agent-apps', {
      schemaVersion: '1.0.0',
      name,
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes },
      ...(webhook === null ? {} : { webhook: typeof webhook === 'string' ? { url: webhook } : webhook }),
    })
    const ids = { user: newId('usr'), installation: newId('ins'), grant: newId('grt') }
    const token = newSecret('svc_at_')
    const now = this.clock.now()
    const later = new Date(now.getTime() + 3_600_000)
    const { db } = this.ctx
    await db.run(sql`
      insert into users (id, user_kind, agent_kind, display_name, created_at)
      values (${ids.user}, 'application', 'app', ${name}, ${now})`)
    await db.run(sql`
      insert into installations (id, workspace_id, app_id, app_user_id, all_teams, team_ids, scopes, created_at, updated_at)
      values (${ids.installation}, ${owner.workspaceId}, ${body.app.id}, ${ids.user}, ${teamIds === null},
        ${teamIds ?? []}, ${scopes}, ${now}, ${now})`)
    await db.run(sql`
      insert into grants (id, workspace_id, client_id, installation_id, scopes, created_at, expires_at)
      values (${ids.grant}, ${owner.workspaceId}, ${body.client_id}, ${ids.installation}, ${scopes}, ${now}, ${later})`)
    await db.run(sql`
      insert into access_tokens (hash, grant_id, expires_at) values (${sha256(token)}, ${ids.grant}, ${later})`)
    const client = this.anonymous.with({ authorization: `Bearer ${token}`, 'x-workspace-id': owner.workspaceId })
    return Object.assign(client, { token, userId: ids.user, installationId: ids.installation, app: body.app })
  }

  /** The id of an agent: a user that is not a person. */
  async agent(workspaceId: string): Promise<string> {
    const id = newId('usr')
    await this.ctx.db.run(sql`
      insert into users (id, user_kind, agent_kind, display_name, created_at)
      values (${id}, 'application', 'deployment', ${`Agent of ${workspaceId}`}, ${this.clock.now()})`)
    return id
  }

  /** Runs calls that must be refused, and expects that they changed nothing. */
  async unchanged<T>(work: () => Promise<T>): Promise<T> {
    // Endpoints are marked due after the commit of an earlier change, which is not part of `work`.
    await this.endpointsWoken()
    await responsesSettled(this.ctx)
    const before = await this.everything()
    const result = await work()
    await this.endpointsWoken()
    await responsesSettled(this.ctx)
    expect(await this.everything()).toBe(before)
    return result
  }

  /** All stored rows, without logins and their networks, rate limits and last_used_at, which also change at a refusal. */
  async everything(): Promise<string> {
    if (!this.#dump) {
      const tables = await this.ctx.db.rows<{ name: string }>(sql`
        select table_name as name from information_schema.tables
        where table_schema = 'public' and table_name !~ '^rate_'
          and table_name not in ('logins', 'login_networks', 'migrations') order by 1`)
      const selects = tables.map(
        ({ name }) => `select '${name}' as name, (to_jsonb(t) - 'last_used_at')::text as row from ${name} t`,
      )
      // The names come from the catalogue, so they are safe in the text.
      this.#dump = new Sql(`${selects.join(' union all ')} order by 1, 2`, [])
    }
    // Equal snapshots see the same rows, so nothing has to be read again.
    const { snapshot } = (await this.ctx.db.row<{ snapshot: string }>(
      sql`select pg_current_snapshot()::text as snapshot`,
    )) as { snapshot: string }
    if (snapshot !== this.#seen.snapshot) {
      this.#seen = { snapshot, stored: JSON.stringify(await this.ctx.db.rows(this.#dump)) }
    }
    return this.#seen.stored
  }
}

/** If the test fails before it awaits `work`, a rejection of `work` must not fail the whole run. */
function waitedFor(work: Promise<void>): Promise<void> {
  work.catch(() => {})
  return work
}

/** The caller of a person's login, outside any workspace. */
function callerOf({ user, token }: TestPerson): Person {
  const { id, display_name: name, email } = user
  const login = { loginMethod: null, recent: false }
  return {
    kind: 'person',
    id,
    name,
    email,
    tokenHash: sha256(token),
    scopes: null,
    workspaceId: null,
    role: null,
    ...login,
  }
}

export function within(person: TestPerson, workspaceId: string): TestPerson {
  const { user, token, password } = person
  return Object.assign(person.with({ 'x-workspace-id': workspaceId }), { user, token, password, workspaceId })
}

/**
 * `app` is shared by the tests of a file; each test creates its own people and workspaces. `startApp` starts a separate
 * one with its own settings.
 */
export const test = base.extend<{
  app: TestApp
  startApp: (env?: Record<string, string>, beside?: TestApp, webDir?: string) => Promise<TestApp>
  receiver: Receiver
  smtp: SmtpServer
}>({
  app: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const app = await TestApp.start()
      await use(app)
      await app.stop()
    },
    { scope: 'file' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above
  receiver: async ({}, use) => {
    const receiver = await Receiver.start()
    await use(receiver)
    await receiver.stop()
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  smtp: async ({}, use) => {
    const server = await SmtpServer.start()
    await use(server)
    await server.stop()
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  startApp: async ({}, use) => {
    const started: TestApp[] = []
    await use(async (...how) => {
      const app = await TestApp.start(...how)
      started.push(app)
      return app
    })
    for (const app of started.reverse()) await app.stop()
  },
})
