import type { AgentActivity, Answer, AppActivityType, NewActivity, SelectMetadata } from '@baton/protocol'
import type { Context } from '../context.ts'
import { isConflict, type Queryable, type Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor, App, Member } from '../http/caller.ts'
import { ApiError, found } from '../http/errors.ts'
import { avatarOf } from './activities.ts'
import { append } from './append.ts'
import { checkAnswer, checkedBody } from './bodies.ts'
import { checkedKey, findKnown, hashOf, type Idempotency, type Known, replay } from './idempotency.ts'
import { notifyPeople, tellsPeople } from './inbox.ts'
import { message } from './message.ts'
import { takeTurn } from './pace.ts'
import { mustSeeSession } from './read.ts'
import {
  ended,
  hears,
  holdPlace,
  lockSessions,
  refuseEnded,
  type Session,
  type SessionRow,
  sessionColumns,
  sessionOf,
} from './session.ts'
import { afterAppActivity, takesMessages } from './state.ts'
import { watched } from './watched.ts'

/** How often to try again without a lock when others write to the same session. */
const quickTries = 2

export function postActivity(ctx: Context, caller: Actor, id: string, body: unknown, header?: string | string[]) {
  const key = checkedKey(header)
  const said = checkedBody(caller.kind, body)
  const idempotency = key === undefined ? undefined : { key, requestHash: hashOf(caller, said) }
  return caller.kind === 'app'
    ? postAsAgent(ctx, caller, id, said, idempotency)
    : postAsPerson(ctx, caller, id, said, idempotency)
}

/**
 * The busiest call there is: two statements and no lock. It reads, decides, and writes if nobody has written in between;
 * if somebody has, it looks again, and at last takes the lock and waits its turn. What asks for people is told to them
 * in the same transaction.
 */
async function postAsAgent(
  ctx: Context,
  caller: App,
  id: string,
  said: NewActivity,
  idempotency: Idempotency | undefined,
): Promise<AgentActivity> {
  const attempt = (db: Queryable) => speakAsAgent(db, ctx, caller, id, said, idempotency)
  for (let tries = 0; tries < quickTries && !tellsPeople(said.content.type); tries++) {
    const spoken = await attempt(ctx.db).catch(ignoreConflict)
    if (!spoken) continue
    if (spoken.session) watched(ctx.db, spoken.session)
    return spoken.activity
  }
  return ctx.db.tx(async (tx) => {
    await holdPlace(tx, caller.id, id)
    await tx.row(sql`select 1 from agent_sessions where id = ${id} and agent_id = ${caller.id} for update`)
    const spoken = found(await attempt(tx))
    if (spoken.session) {
      watched(tx, spoken.session)
      await notifyPeople(tx, ctx.clock.now(), spoken.session, said.content.type)
    }
    return spoken.activity
  })
}

function ignoreConflict(error: unknown): undefined {
  if (!isConflict(error)) throw error
}

/** Undefined: the session was changed meanwhile. Without a session: the activity had been stored before. */
async function speakAsAgent(
  db: Queryable,
  ctx: Context,
  caller: App,
  id: string,
  said: NewActivity,
  idempotency: Idempotency | undefined,
): Promise<{ activity: AgentActivity; session?: Session } | undefined> {
  const now = ctx.clock.now()
  const key = idempotency?.key ?? null
  const row = found(
    await db.row<SessionRow & Known>(sql`
      select ${sessionColumns}, k.seq as known_seq, k.request_hash as known_hash
      from agent_sessions s
      left join agent_activities k on k.session_id = s.id and k.idempotency_key = ${key}
      where s.id = ${id} and s.workspace_id = ${caller.workspaceId} and s.agent_id = ${caller.id}`),
  )
  const replayed = await replay(db, ctx, id, row, idempotency)
  if (replayed) return { activity: replayed }
  const session = sessionOf(row, now, ctx.config)
  refuseEnded(session)
  const turn = takeTurn(session.recent, now, ctx.config.sessionRatePerSecond)
  if ('waitMs' in turn) throw tooFast(turn.waitMs, ctx.config.sessionRatePerSecond)
  const activity = await append(
    db,
    session,
    afterAppActivity(session.standing, said.content.type as AppActivityType, now),
    {
      content: said.content as AgentActivity['content'],
      ephemeral: said.ephemeral ?? false,
      signal: said.signal ?? null,
      signalMetadata: said.signal_metadata ?? null,
      author: { kind: 'app', id: caller.id, name: caller.name, avatar_url: avatarOf(ctx.config, caller.appId) },
      idempotency,
      recent: turn.recent,
    },
    now,
    ctx.config,
  )
  return activity && { activity, session }
}

const postAsPerson = (
  ctx: Context,
  caller: Member,
  id: string,
  said: NewActivity,
  idempotency: Idempotency | undefined,
): Promise<AgentActivity> =>
  ctx.db.tx(async (tx) => {
    await mustSeeSession(tx, caller, id)
    const [session] = await lockSessions(tx, ctx.clock.now(), ctx.config, sql`s.id = ${id}`)
    const known = idempotency && (await findKnown(tx, id, idempotency.key))
    const replayed = await replay(tx, ctx, id, known, idempotency)
    if (replayed) return replayed
    const open = found(session)
    if (!hears(open, caller)) throw new ApiError('FORBIDDEN', {}, { message: 'This agent works for its owner alone.' })
    if (!takesMessages(open.standing)) throw ended(open)
    const answer = said.signal_metadata as Answer | undefined
    if (answer) checkAnswer(answer, await choiceOffered(tx, id, answer.in_reply_to))
    return message(tx, ctx, caller, open, said.content.body as string, { answer, idempotency })
  })

const choiceOffered = async (tx: Tx, sessionId: string, activityId: string) =>
  (
    await tx.row<{ offered: SelectMetadata }>(sql`
      select signal_metadata as offered from agent_activities
      where session_id = ${sessionId} and id = ${activityId} and signal = 'select'`)
  )?.offered ?? null

function tooFast(waitMs: number, limit: number) {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  return new ApiError(
    'RATE_LIMIT_EXCEEDED',
    {},
    {
      message: `An agent may post ${limit} activities a second in one session; wait for the seconds in Retry-After.`,
      headers: {
        'retry-after': seconds,
        'ratelimit-limit': String(limit),
        'ratelimit-remaining': '0',
        'ratelimit-reset': seconds,
      },
    },
  )
}
