import { randomUUID } from 'node:crypto'
import { type AttemptAnswer, limits, listenUrl, type RelayedAttempt } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { plus, repeat } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import { requestMissed } from '../delivery/catch-up.ts'
import { setState } from '../delivery/endpoints.ts'
import { type Actor, type App, isManager, type Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import type { EventStream } from '../http/event-stream.ts'
import { confirmAccess } from '../live/access.ts'
import { readOnWake, streamFor } from '../live/stream.ts'
import { CoalescedTask } from '../single-flight.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { confirmRole } from '../workspaces/members.ts'
import { findApp, findOwnApp, refuseA2a, type StoredApp } from './apps.ts'
import { currentListener, endListening } from './listeners.ts'

/** Two heartbeats. If a process dies, its listeners end after this time. */
const leaseMs = 30_000
/** Room for one attempt in base64 with its headers; the next is sent when the previous one has been read. */
const unreadBytes = 2 * limits.relayedBytes

interface Listening {
  appId: string
  connectionId: string
  takeOver: boolean
  catchUp: boolean
  /** Does not replace a listener. */
  onlyIfFree?: boolean
}

export interface InsideListener {
  /** It was replaced, or the app was uninstalled. */
  readonly over: boolean
  stop(): Promise<void>
}

/** A developer receives the deliveries of an app. */
export const listen = (ctx: Context, caller: Member, appId: string, takeOver: boolean) =>
  openStream(ctx, caller, { appId, takeOver, catchUp: false, connectionId: randomUUID() })

/** An app receives its own deliveries, with its token (run.listen-as-app-delivers). */
export const listenAsApp = (ctx: Context, caller: App, catchUp: boolean) =>
  openStream(ctx, caller, { appId: appIdOf(caller), takeOver: false, catchUp, connectionId: randomUUID() })

/** While the stream is open, the app's attempts are sent on it as events (listen.attempts-go-to-listener). */
async function openStream(ctx: Context, caller: Actor, listening: Listening) {
  await findPermitted(ctx.db, caller, listening)
  return streamFor(ctx, caller, (stream) => relayTo(ctx, caller, stream, listening), {
    unreadBytes,
    mayContinue: () => extendLease(ctx, caller, listening),
  })
}

function appIdOf({ appId }: App): string {
  if (appId === null) throw new ApiError('FORBIDDEN', {}, { message: 'This route needs the token of an agent app.' })
  return appId
}

/** The app, if the caller may listen to it. */
async function findPermitted(db: Queryable, caller: Actor, { appId, takeOver }: Listening, lock: Sql = none) {
  if (caller.kind === 'person') {
    const app = await findOwnApp(db, caller, appId, lock)
    refuseA2a(app)
    mustBePermitted(caller, app, takeOver)
    return app
  }
  const app = await findApp(db, caller, appId, lock)
  if (app.webhook.url === listenUrl) return app
  throw new ApiError('FORBIDDEN', {}, { message: `Only an app with the webhook URL ${listenUrl} can listen.` })
}

/** listen.who: without a webhook URL, those who manage the app may listen; otherwise a manager with `take_over`. */
function mustBePermitted(caller: Member, { webhook }: StoredApp, takeOver: boolean) {
  if (webhook.url === listenUrl || (isManager(caller) && takeOver)) return
  const message = isManager(caller)
    ? 'The app has a webhook URL. To receive its deliveries in place of that URL, send take_over=true.'
    : 'Only a manager can receive deliveries in place of a webhook URL.'
  throw new ApiError('FORBIDDEN', {}, { message })
}

/** Replaces the previous listener, if any (listen.newest-wins). Returns undefined if `onlyIfFree` forbids it. */
const startListening = (ctx: Context, admitted: Actor, listening: Listening) =>
  transact(ctx, admitted, async (admission) => {
    const unit = await confirmCaller(admission)
    const { tx, now, caller } = unit
    const { appId, connectionId, catchUp } = listening
    const app = await findPermitted(tx, caller, listening, sql`for no key update of a`)
    const { endpointId } = app
    if (listening.onlyIfFree) {
      const other = await tx.row(
        sql`select 1 from listeners where endpoint_id = ${endpointId} and lease_until > ${now}`,
      )
      if (other) return undefined
    }
    await endListening(tx, now, sql`endpoint_id = ${endpointId}`)
    await tx.run(sql`
      insert into listeners (endpoint_id, workspace_id, app_id, connection_id, user_id, since, lease_until)
      values (${endpointId}, ${caller.workspaceId}, ${appId}, ${connectionId}, ${caller.id}, ${now},
        ${plus(now, leaseMs)})`)
    await recordAudit(unit, { action: 'app.listening_started', subjectId: appId, details: { url: app.webhook.url } })
    await ctx.relay.handOver(tx, { endpointId, userId: caller.id, connectionId })
    if (caller.kind === 'app') await clearFailing(unit, app)
    if (catchUp) await requestMissed(unit, endpointId)
    return app
  })

/** The caller may have lost access since the request was admitted. */
async function confirmCaller(unit: UnitOfWork<Actor>): Promise<UnitOfWork<Actor>> {
  const { tx, caller } = unit
  if (caller.kind === 'person') return confirmRole({ ...unit, caller }, 'member')
  const held = await tx.row(sql`
    select 1 from installations where id = ${caller.installationId} and revoked_at is null for share`)
  if (!held) throw new ApiError('INSTALLATION_REVOKED')
  return unit
}

/** An app that listens can receive again; a webhook that was disabled by a person stays so (run.listen-clears-failing). */
async function clearFailing(unit: UnitOfWork<Actor>, { id, endpointId, webhook }: StoredApp) {
  const { tx, now } = unit
  if (webhook.state !== 'failing') return
  await setState(tx, endpointId, 'enabled', now)
  await recordAudit(unit, { action: 'app.webhook_enabled', subjectId: id })
}

/** Extends the lease. False if this connection no longer listens, or its user is no longer permitted to. */
const extendLease = (ctx: Context, admitted: Actor, listening: Listening) =>
  transact(ctx, admitted, async (unit) => {
    const { tx, now } = unit
    try {
      const { caller } = await confirmCaller(unit)
      await findPermitted(tx, caller, listening)
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
    const { connectionId } = listening
    const leaseUntil = plus(now, leaseMs)
    return (
      (await tx.run(sql`update listeners set lease_until = ${leaseUntil} where connection_id = ${connectionId}`)) > 0
    )
  })

/**
 * An app that runs inside this process receives its deliveries without a stream. Every attempt is answered with 200.
 * Returns undefined if another listener has the app and `onlyIfFree` is set.
 */
export async function listenInside(
  ctx: Context,
  caller: App,
  { onlyIfFree }: { onlyIfFree: boolean },
  receive: (attempt: RelayedAttempt) => void,
): Promise<InsideListener | undefined> {
  const { relay, clock } = ctx
  const listening = { appId: appIdOf(caller), takeOver: false, catchUp: false, connectionId: randomUUID(), onlyIfFree }
  const app = await startListening(ctx, caller, listening)
  if (!app) return undefined
  const { endpointId } = app
  const ended = new AbortController()
  const reading = new CoalescedTask(async () => {
    while (!ended.signal.aborted) {
      const attempt = await relay.take(listening.connectionId)
      if (!attempt) break
      receive(attempt)
      await relay.answer(attempt.attempt_id, endpointId, caller.id, { status: 200 })
    }
    if (!(await currentListener(ctx.db, listening.appId, listening.connectionId)).still) end()
  })
  const wake = () =>
    void reading.request().catch(({ message }: Error) => {
      ctx.log.warn({ message }, 'could not read the attempts of an app inside this process')
    })
  // A failure of the read is reported by `wake`.
  const idle = () => reading.idle().catch(() => {})
  const close = relay.connect(listening.connectionId, {
    wake,
    closed: () => idle().then(() => stopListening(ctx, listening)),
  })
  const stopBeating = repeat(
    clock,
    limits.heartbeatSeconds * 1000,
    async () => {
      if (!(await extendLease(ctx, caller, listening))) end()
      else wake()
    },
    ({ message }) => ctx.log.warn({ message }, 'could not extend the lease of an app inside this process'),
  )
  const end = () => {
    if (ended.signal.aborted) return
    ended.abort()
    close()
  }
  wake()
  return {
    get over() {
      return ended.signal.aborted
    },
    async stop() {
      end()
      await stopBeating()
      await idle()
    },
  }
}

/** The first read starts listening; each wake-up reads the attempts that are waiting. */
function relayTo(ctx: Context, caller: Actor, stream: EventStream, listening: Listening): () => void {
  let started = false
  const read = readOnWake(ctx, stream, async () => {
    if (!started) {
      const { webhook } = found(await startListening(ctx, caller, listening))
      stream.event('ready', { app_id: listening.appId, url: webhook.url })
      started = true
    }
    await sendAll(ctx, caller, stream, listening)
  })
  const firstRead = read()
  return ctx.relay.connect(listening.connectionId, {
    wake: () => void read(),
    closed: () => firstRead.then(() => stopListening(ctx, listening)),
  })
}

async function sendAll(ctx: Context, caller: Actor, stream: EventStream, { appId, connectionId }: Listening) {
  const { db, relay } = ctx
  let admitted = true
  for (;;) {
    await stream.drained()
    if (stream.over) return
    admitted = await isAdmitted(ctx, caller)
    const attempt = admitted && (await relay.take(connectionId))
    if (!attempt) break
    stream.event('attempt', attempt)
  }
  const { still, user } = await currentListener(db, appId, connectionId)
  if (still && admitted) return
  if (user && admitted) stream.event('replaced', { user })
  else if (!still) stream.event('ended', {})
  stream.end()
}

/** An app that was uninstalled is told that listening ended, so that it does not connect again. */
const isAdmitted = (ctx: Context, caller: Actor): Promise<boolean> =>
  confirmAccess(ctx, caller).then(
    () => true,
    (error) => {
      if (error instanceof ApiError) return false
      throw error
    },
  )

/** Does not wait for the lease, so that the next attempt goes to the URL (listen.disconnect-restores-url). */
const stopListening = ({ db, clock, log }: Context, { connectionId }: Listening) =>
  db
    .tx((tx) => endListening(tx, clock.now(), sql`connection_id = ${connectionId}`))
    .catch(({ message }: Error) =>
      log.warn({ message }, 'could not remove a disconnected listener; its lease will expire'),
    )

export async function answerAttempt(
  { db, relay }: Context,
  caller: Member,
  { appId, attemptId }: { appId: string; attemptId: string },
  answer: AttemptAnswer,
) {
  // Deleted apps included: `revoked` is delivered after the deletion (app.delete-uninstalls-first).
  const { endpointId, ownerId } = found(
    await db.row<{ endpointId: string; ownerId: string }>(sql`
      select endpoint_id as "endpointId", owner_user_id as "ownerId" from agent_apps
      where workspace_id = ${caller.workspaceId} and id = ${appId}`),
  )
  if (!isManager(caller) && ownerId !== caller.id) throw new ApiError('FORBIDDEN')
  if (!(await relay.answer(attemptId, endpointId, caller.id, answer))) throw notWaiting()
}

export async function answerAsApp({ db, relay }: Context, caller: App, attemptId: string, answer: AttemptAnswer) {
  const { endpointId } = await findApp(db, caller, appIdOf(caller))
  if (!(await relay.answer(attemptId, endpointId, caller.id, answer))) throw notWaiting()
}

function notWaiting() {
  const message = 'No such attempt is waiting for you: it was already answered, or its 5 seconds have passed.'
  return new ApiError('RESOURCE_NOT_FOUND', {}, { message })
}
