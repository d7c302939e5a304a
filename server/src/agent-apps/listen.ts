import { randomUUID } from 'node:crypto'
import { type AttemptAnswer, limits, listenUrl } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import { isManager, type Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import type { EventStream } from '../http/event-stream.ts'
import { readOnWake, streamFor } from '../live/stream.ts'
import { transact } from '../unit-of-work.ts'
import { confirmRole, transactAs } from '../workspaces/members.ts'
import { findOwnApp, type StoredApp } from './apps.ts'
import { endListening, whoListens } from './listeners.ts'

/** Two heartbeats. A process that dies takes its listeners with it after this time. */
const leaseMs = 30_000
/** An attempt in base64, with its headers. There is never more than one unread. */
const unreadBytes = 2 * limits.relayedBytes

interface Listening {
  appId: string
  connectionId: string
  takeOver: boolean
}

/** decisions 11: while the stream is open, the app's attempts are events on it. */
export async function listen(ctx: Context, caller: Member, appId: string, takeOver: boolean) {
  guard(caller, await findOwnApp(ctx.db, caller, appId), takeOver)
  const listening = { appId, takeOver, connectionId: randomUUID() }
  return streamFor(ctx, caller, (stream) => relayTo(ctx, caller, stream, listening), {
    unreadBytes,
    mayContinue: () => goOn(ctx, caller, listening),
  })
}

/** Whoever looks after an app may listen in place of no URL; a real one is diverted by a manager, and knowingly. */
function guard(caller: Member, { webhook }: StoredApp, takeOver: boolean) {
  if (webhook.url === listenUrl || (isManager(caller) && takeOver)) return
  const message = isManager(caller)
    ? 'The app has a URL of its own; to receive its deliveries in place of that, send take_over=true.'
    : 'Only a manager may receive deliveries in place of a real URL.'
  throw new ApiError('FORBIDDEN', {}, { message })
}

/** The newest listener wins. */
const start = (ctx: Context, admitted: Member, { appId, connectionId, takeOver }: Listening) =>
  transactAs(ctx, admitted, 'member', async (unit) => {
    const { tx, now, caller } = unit
    const app = await findOwnApp(tx, caller, appId, sql`for no key update of a`)
    guard(caller, app, takeOver)
    await endListening(tx, now, sql`endpoint_id = ${app.endpointId}`)
    await tx.run(sql`
      insert into listeners (endpoint_id, workspace_id, app_id, connection_id, user_id, since, lease_until)
      values (${app.endpointId}, ${caller.workspaceId}, ${appId}, ${connectionId}, ${caller.id}, ${now},
        ${plus(now, leaseMs)})`)
    await recordAudit(unit, { action: 'app.listening_started', subjectId: appId, details: { url: app.webhook.url } })
    return app
  })

/** Puts off the end of the lease. False when they listen no more, or may not. */
const goOn = (ctx: Context, admitted: Member, { appId, connectionId, takeOver }: Listening) =>
  transact(ctx, admitted, async (unit) => {
    const { tx, now } = unit
    try {
      const { caller } = await confirmRole(unit, 'member')
      guard(caller, await findOwnApp(tx, caller, appId), takeOver)
    } catch (error) {
      if (error instanceof ApiError) return false
      throw error
    }
    const leaseUntil = plus(now, leaseMs)
    return (
      (await tx.run(sql`update listeners set lease_until = ${leaseUntil} where connection_id = ${connectionId}`)) > 0
    )
  })

/** The first look begins it, each ring says to look again for attempts. */
function relayTo(ctx: Context, caller: Member, stream: EventStream, listening: Listening): () => void {
  let started = false
  const look = readOnWake(ctx, stream, async () => {
    if (!started) {
      const { webhook } = await start(ctx, caller, listening)
      stream.event('ready', { app_id: listening.appId, url: webhook.url })
      started = true
    }
    await sendAll(ctx, stream, listening)
  })
  const beginning = look()
  return ctx.relay.connect(listening.connectionId, {
    wake: () => void look(),
    closed: () => beginning.then(() => leave(ctx, listening)),
  })
}

async function sendAll({ db, relay }: Context, stream: EventStream, { appId, connectionId }: Listening) {
  for (;;) {
    await stream.room()
    if (stream.over) return
    const attempt = await relay.take(connectionId)
    if (!attempt) break
    stream.event('attempt', attempt)
  }
  const { still, user } = await whoListens(db, appId, connectionId)
  if (still) return
  if (user) stream.event('replaced', { user })
  else stream.event('ended', {})
  stream.end()
}

/** At once, so that the next attempt goes to the URL again. */
const leave = ({ db, clock, log }: Context, { connectionId }: Listening) =>
  db
    .tx((tx) => endListening(tx, clock.now(), sql`connection_id = ${connectionId}`))
    .catch(({ message }: Error) => log.warn({ message }, 'a listener left, and its lease ends by itself'))

export async function answerAttempt(
  { db, relay }: Context,
  caller: Member,
  { appId, attemptId }: { appId: string; attemptId: string },
  answer: AttemptAnswer,
) {
  // Also of an app that was deleted: `revoked` is attempted after that (decisions 7).
  const { endpointId, ownerId } = found(
    await db.row<{ endpointId: string; ownerId: string }>(sql`
      select endpoint_id as "endpointId", owner_user_id as "ownerId" from agent_apps
      where workspace_id = ${caller.workspaceId} and id = ${appId}`),
  )
  if (!isManager(caller) && ownerId !== caller.id) throw new ApiError('FORBIDDEN')
  if (await relay.answer(attemptId, endpointId, caller.id, answer)) return
  const message = 'There is no such attempt of yours: it was answered already, or its five seconds were over.'
  throw new ApiError('RESOURCE_NOT_FOUND', {}, { message })
}
