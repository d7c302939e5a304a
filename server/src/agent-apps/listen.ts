import { randomUUID } from 'node:crypto'
import { type AttemptAnswer, limits, listenUrl } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { isManager, type Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import type { EventStream } from '../http/event-stream.ts'
import { confirmAccess } from '../live/access.ts'
import { readOnWake, streamFor } from '../live/stream.ts'
import { transact } from '../unit-of-work.ts'
import { confirmRole, transactAs } from '../workspaces/members.ts'
import { findOwnApp, type StoredApp } from './apps.ts'
import { currentListener, endListening } from './listeners.ts'

/** Two heartbeats. If a process dies, its listeners end after this time. */
const leaseMs = 30_000
/** Room for one attempt in base64 with its headers; the next is sent when the previous one has been read. */
const unreadBytes = 2 * limits.relayedBytes

interface Listening {
  appId: string
  connectionId: string
  takeOver: boolean
}

/** While the stream is open, the app's attempts are sent on it as events (listen.attempts-go-to-listener). */
export async function listen(ctx: Context, caller: Member, appId: string, takeOver: boolean) {
  mustBePermitted(caller, await findOwnApp(ctx.db, caller, appId), takeOver)
  const listening = { appId, takeOver, connectionId: randomUUID() }
  return streamFor(ctx, caller, (stream) => relayTo(ctx, caller, stream, listening), {
    unreadBytes,
    mayContinue: () => extendLease(ctx, caller, listening),
  })
}

/** listen.who: without a webhook URL, those who manage the app may listen; otherwise a manager with `take_over`. */
function mustBePermitted(caller: Member, { webhook }: StoredApp, takeOver: boolean) {
  if (webhook.url === listenUrl || (isManager(caller) && takeOver)) return
  const message = isManager(caller)
    ? 'The app has a webhook URL. To receive its deliveries in place of that URL, send take_over=true.'
    : 'Only a manager can receive deliveries in place of a webhook URL.'
  throw new ApiError('FORBIDDEN', {}, { message })
}

/** Replaces the previous listener, if any (listen.newest-wins). */
const startListening = (ctx: Context, admitted: Member, { appId, connectionId, takeOver }: Listening) =>
  transactAs(ctx, admitted, 'member', async (unit) => {
    const { tx, now, caller } = unit
    const app = await findOwnApp(tx, caller, appId, sql`for no key update of a`)
    mustBePermitted(caller, app, takeOver)
    await endListening(tx, now, sql`endpoint_id = ${app.endpointId}`)
    await tx.run(sql`
      insert into listeners (endpoint_id, workspace_id, app_id, connection_id, user_id, since, lease_until)
      values (${app.endpointId}, ${caller.workspaceId}, ${appId}, ${connectionId}, ${caller.id}, ${now},
        ${plus(now, leaseMs)})`)
    await recordAudit(unit, { action: 'app.listening_started', subjectId: appId, details: { url: app.webhook.url } })
    return app
  })

/** Extends the lease. False if this connection no longer listens, or its user is no longer permitted to. */
const extendLease = (ctx: Context, admitted: Member, { appId, connectionId, takeOver }: Listening) =>
  transact(ctx, admitted, async (unit) => {
    const { tx, now } = unit
    try {
      const { caller } = await confirmRole(unit, 'member')
      mustBePermitted(caller, await findOwnApp(tx, caller, appId), takeOver)
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
    const leaseUntil = plus(now, leaseMs)
    return (
      (await tx.run(sql`update listeners set lease_until = ${leaseUntil} where connection_id = ${connectionId}`)) > 0
    )
  })

/** The first read starts listening; each wake-up reads the attempts that are waiting. */
function relayTo(ctx: Context, caller: Member, stream: EventStream, listening: Listening): () => void {
  let started = false
  const read = readOnWake(ctx, stream, async () => {
    if (!started) {
      const { webhook } = await startListening(ctx, caller, listening)
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

async function sendAll(ctx: Context, caller: Member, stream: EventStream, { appId, connectionId }: Listening) {
  const { db, relay } = ctx
  for (;;) {
    await stream.drained()
    if (stream.over) return
    await confirmAccess(ctx, caller)
    const attempt = await relay.take(connectionId)
    if (!attempt) break
    stream.event('attempt', attempt)
  }
  const { still, user } = await currentListener(db, appId, connectionId)
  if (still) return
  if (user) stream.event('replaced', { user })
  else stream.event('ended', {})
  stream.end()
}

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
  if (await relay.answer(attemptId, endpointId, caller.id, answer)) return
  const message = 'No such attempt is waiting for you: it was already answered, or its 5 seconds have passed.'
  throw new ApiError('RESOURCE_NOT_FOUND', {}, { message })
}
