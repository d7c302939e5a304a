import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { A2aRunner } from './a2a/runner.ts'
import { startTimers } from './agent-sessions/timers.ts'
import { createBuiltInAgent } from './agents/inside-agents.ts'
import { AgentRunner } from './agents/runner.ts'
import { createApp, hooks } from './app.ts'
import { AutomationWorker } from './automations/worker.ts'
import { startBackups } from './backup/schedule.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError, withPort } from './config.ts'
import type { Context } from './context.ts'
import { backupMetrics, counters } from './counters.ts'
import { Keyring } from './crypto.ts'
import { releaseClaims } from './db/claims.ts'
import { DataDir } from './db/data-dir.ts'
import type { Db } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { openPostgres } from './db/open-postgres.ts'
import { startDeletions } from './deletion/purge.ts'
import { EndpointWaker } from './delivery/endpoint-waker.ts'
import type { Attempted } from './delivery/stages.ts'
import { DeliveryWorker } from './delivery/worker.ts'
import { disableDemo } from './demo/disable.ts'
import { demoLoginOf } from './demo/login.ts'
import { ReplayRunner } from './events/replay-runner.ts'
import { startArchives } from './exports/worker.ts'
import { startComments } from './git/comments.ts'
import { startHousekeeping } from './housekeeping.ts'
import { Metrics } from './http/metrics.ts'
import { listenForMetrics } from './http/metrics-listener.ts'
import { ImportWorker } from './imports/worker.ts'
import { startNotifications } from './inbox/due-mails.ts'
import { startInsights } from './insights/rollup.ts'
import { checkSecretKey, resealAll } from './key-check.ts'
import type { Logger } from './log.ts'
import { responsesSettled } from './login/after-response.ts'
import { commands } from './operate/commands.ts'
import { syncErasures } from './operate/erasures.ts'
import { serveCommands } from './operate/socket.ts'
import { GuardedClient } from './outbound/client.ts'
import { startReminders } from './personal-tokens/mails.ts'
import { Relay } from './relay/relay.ts'
import { Wakeups } from './relay/wakeups.ts'
import { openStorage } from './storage-check.ts'
import { readWebFiles } from './web/files.ts'

/** How long requests in progress may take after the process was asked to stop. */
const drainMs = 10_000

export interface Running {
  /** With the port that it listens on. */
  config: Config
  /** The login of the demo workspace, if there is one. */
  demo: { email: string; password: string } | null
  stop(): Promise<void>
}

/** Starts the configured role. `print` reports slow steps to the operator. Listens when `built` is done. */
export async function start(
  config: Config,
  log: Logger,
  print: (line: string) => void,
  built: Promise<unknown>,
): Promise<Running> {
  const { database, metricsListen } = config
  if (metricsListen) await mustBeFree(metricsListen)
  if (database.kind === 'postgres') {
    const port = await availablePort(config)
    const db = await openPostgres(
      database.url,
      (error) => {
        counters.reconnects.inc()
        log.warn({ message: error.message }, 'lost a database connection')
      },
      print,
    )
    return startOn(db, withPort(config, port), [config.secretKey as Buffer], log, print, built)
  }
  const dataDir = await DataDir.open(database.dataDir)
  try {
    // Before a database is created, which takes seconds: fail early when the port is taken.
    const port = await availablePort(config)
    const db = await dataDir.openDatabase(print, (error) => {
      console.error(`The embedded database failed: ${error.message}. Start Baton again; what was committed is kept.`)
      process.exit(1)
    })
    const secretKeys = config.secretKey ? [config.secretKey] : dataDir.secretKeys()
    const running = await startOn(db, withPort(config, port), secretKeys, log, print, built)
    if (!config.secretKey) dataDir.forgetPreviousKey()
    return {
      ...running,
      async stop() {
        await running.stop()
        dataDir.close()
      },
    }
  } catch (error) {
    dataDir.close()
    throw error
  }
}

async function startOn(
  db: Db,
  config: Config,
  [secretKey, ...previousKeys]: Buffer[],
  log: Logger,
  print: (line: string) => void,
  built: Promise<unknown>,
): Promise<Running> {
  try {
    const onWaiting = (name: string) => log.warn({ migration: name }, 'waiting for a lock held by another transaction')
    for (const name of await migrate(db, onWaiting)) log.info({ migration: name }, 'applied')
    const keys = new Keyring(secretKey as Buffer, [...previousKeys, ...config.previousSecretKeys])
    await checkSecretKey(db, keys)
    await resealAll(db, keys)
    // One process at a time has the embedded database, so those that held work are gone.
    if (db.kind === 'embedded') await db.tx(releaseClaims)

    const storage = await openStorage(config, db)
    const clock = systemClock
    const outbound = new GuardedClient({ allow: config.webhookAllow, clock })
    const relay = new Relay(db, clock, log)
    const ctx: Context = { config, clock, keys, log, db, outbound, relay, storage, hooks }
    const waker = new EndpointWaker(db, clock, log)
    const workWakeups = new Wakeups(db, log, 'work')
    if (config.demo) await (await import('./demo/create.ts')).createDemo(ctx)
    else await disableDemo(ctx, print)
    const demo = await demoLoginOf(ctx)()
    const lifecycle = { stopping: false }
    const metrics = new Metrics()
    await built
    const { http, door, live } = await createApp(ctx, lifecycle, metrics, readWebFiles())
    const stopMetrics = config.metricsListen ? await listenForMetrics(metrics, config.metricsListen, log) : null
    await listen((address) => http.listen(address), config)
    const stopCommands = await serveCommands(ctx, commands)
    await syncErasures(db, config.backup.dir).catch(({ message }: Error) =>
      log.warn({ message }, 'could not write erasures.json'),
    )
    // Before the deliveries, so that the first ones find it. Viewers are connected to processes that serve the API.
    const demoAgent =
      config.demo && config.role !== 'worker'
        ? await (await import('./demo/agent.ts')).startDemoAgent(ctx, door, (id) => live.watchingIn(id))
        : undefined
    const stopWorking =
      config.role === 'api'
        ? async () => {}
        : await startWorking(
            ctx,
            waker,
            new AgentRunner(ctx, door, workWakeups),
            new A2aRunner(ctx, door),
            workWakeups,
            metrics,
          )

    return {
      config,
      demo,
      async stop() {
        lifecycle.stopping = true
        const cutOff = setTimeout(() => http.server.closeAllConnections(), config.stopDelayMs + drainMs).unref()
        await Promise.all([http.close(), stopWorking(), stopCommands(), demoAgent?.stop()])
        clearTimeout(cutOff)
        await responsesSettled(ctx)
        await waker.idle()
        await relay.stop()
        await workWakeups.stop()
        await outbound.close()
        await stopMetrics?.()
        await db.close()
      },
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/**
 * Starts everything but the API: deliveries, replays, agents, mail, timers and housekeeping. Returns a function that
 * stops it.
 */
async function startWorking(
  ctx: Context,
  waker: EndpointWaker,
  agents: AgentRunner,
  a2a: A2aRunner,
  workWakeups: Wakeups,
  metrics: Metrics,
): Promise<() => Promise<void>> {
  // Loaded only where it is used: it is one of the largest packages.
  const mails =
    ctx.config.mail && (await import('./mails.ts')).createMailWorker(ctx, (outcome) => metrics.mail(outcome))
  const stopHousekeeping = startHousekeeping(ctx)
  const stopBackups = startBackups(ctx, backupMetrics)
  const stopTimers = startTimers(ctx)
  const stopComments = startComments(ctx)
  const stopArchives = startArchives(ctx, createBuiltInAgent)
  const replays = new ReplayRunner(ctx)
  const observer = {
    completed: (attempted: Attempted[]) => {
      if (attempted.some(({ claimed }) => claimed.kind === 'replay')) replays.wake()
    },
    attempted: ({ outcome }: Attempted) => metrics.attempt(outcome.ok ? 'ok' : outcome.reason, outcome.durationMs),
  }
  const worker = new DeliveryWorker(ctx, waker, observer, a2a.sender)
  const stopNotifications = startNotifications(ctx)
  const stopReminders = startReminders(ctx)
  const stopDeletions = startDeletions(ctx)
  const stopInsights = startInsights(ctx)
  const imports = new ImportWorker(ctx)
  imports.start(workWakeups)
  const automations = new AutomationWorker(ctx)
  automations.start(workWakeups)
  worker.start()
  a2a.start()
  replays.start()
  agents.start()
  mails?.start(workWakeups)
  return async () => {
    await Promise.all([
      stopHousekeeping(),
      stopBackups(),
      stopTimers(),
      stopNotifications(),
      stopReminders(),
      stopDeletions(),
      stopInsights(),
      stopComments(),
      stopArchives(),
      worker.stop(),
      replays.stop(),
      agents.stop(),
      mails?.stop(),
      imports.stop(),
      automations.stop(),
    ])
    await a2a.stop()
  }
}

/** Before a database is opened: a start that fails later would have to close it. */
async function mustBeFree({ host, port }: { host: string; port: number }) {
  const probe = createServer()
  await once(probe.listen({ host, port }), 'listening').catch((error: Error) => {
    throw new ConfigError(`BATON_METRICS_LISTEN: cannot listen on ${host}:${port}: ${error.message}`)
  })
  probe.close()
}

/** The configured port, or with `PORT=0` a free one. Fails if it is in use. */
async function availablePort(config: Config): Promise<number> {
  const probe = createServer()
  await listen((address) => once(probe.listen(address), 'listening'), config)
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}

async function listen(listenOn: (address: { host: string; port: number }) => Promise<unknown>, { host, port }: Config) {
  try {
    await listenOn({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      throw new ConfigError(
        `PORT ${port} on ${host} is in use by another program; stop it or set PORT to another number`,
      )
    }
    throw new ConfigError(`cannot listen on HOST ${host} and PORT ${port}: ${message}`)
  }
}
