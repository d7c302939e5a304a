import type { AgentActivity, Answer, AppActivityType, AuthMetadata, NewActivity, SelectMetadata } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { isConflict, type Queryable, type Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { linkReferenced, refersToFiles } from '../files/links.ts'
import type { Actor, App, Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { rateLimited } from '../http/rate-limit.ts'
import { transact, type UnitOfWork, withoutTransaction } from '../unit-of-work.ts'
import { avatarOf } from './activities.ts'
import { admitActivity } from './activity-rate.ts'
import { append } from './append.ts'
import { checkAnswer, checkedBody } from './bodies.ts'
import { checkedKey, findKnown, hashOf, type Idempotency, type KnownActivity, replay } from './idempotency.ts'
import { notifies, notifyRequester } from './inbox.ts'
import { postMessage, refuseMessage } from './message.ts'
import { reportActivity } from './outcomes.ts'
import { mustSeeSession } from './read.ts'
import {
  lockSessions,
  lockSubject,
  refuseEnded,
  type Session,
  type SessionRow,
  sessionColumns,
  sessionOf,
} from './session.ts'
import { sendSessionHint } from './session-hint.ts'
import { afterAppActivity } from './state.ts'

/** Attempts without a lock, before the session is locked. */
const unlockedAttempts = 2

/** A validated activity for one session. */
interface Post {
  sessionId: string
  input: NewActivity
  idempotency: Idempotency | undefined
}

interface PostRequest {
  body: unknown
  /** The header Idempotency-Key. */
  key: string | string[] | undefined
}

export function postActivity(ctx: Context, caller: Actor, sessionId: string, request: PostRequest) {
  const key = checkedKey(request.key)
  const input = checkedBody(caller.kind, request.body)
  const idempotency = key === undefined ? undefined : { key, requestHash: hashOf(caller, input) }
  const post = { sessionId, input, idempotency }
  return caller.kind === 'app' ? postAsAgent(ctx, caller, post) : postAsPerson(ctx, caller, post)
}

/**
 * The most frequent call, so it usually takes two statements and no lock: it reads the session, and writes if the
 * session was not changed in between. After repeated conflicts it locks the session. An activity that notifies a person
 * or shows files needs a transaction for the inbox entry or the links.
 */
async function postAsAgent(ctx: Context, caller: App, post: Post): Promise<AgentActivity> {
  const { sessionId, input } = post
  const text = textOf(input)
  const needsTransaction = notifies(input.content.type) || refersToFiles(text)
  for (let attempt = 0; attempt < unlockedAttempts && !needsTransaction; attempt++) {
    const posted = await tryPostAsAgent(withoutTransaction(ctx, caller), post).catch(ignoreConflict)
    if (!posted) continue
    if (posted.session) sendSessionHint(ctx.db, posted.session)
    return posted.activity
  }
  return transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await lockSubject(tx, caller.id, sessionId)
    await tx.row(sql`select 1 from agent_sessions where id = ${sessionId} and agent_id = ${caller.id} for update`)
    const posted = found(await tryPostAsAgent(unit, post))
    if (posted.session) {
      await linkReferenced(unit, { type: 'session', id: sessionId }, text)
      sendSessionHint(tx, posted.session)
      await notifyRequester(unit, posted.session, input.content.type)
      await reportActivity(unit, posted.session, posted.activity)
    }
    return posted.activity
  })
}

/** All texts of an activity. */
const textOf = ({ content }: NewActivity) =>
  Object.values(content)
    .filter((value) => typeof value === 'string')
    .join('\n')

function ignoreConflict(error: unknown): undefined {
  if (!isConflict(error)) throw error
}

/** Returns undefined if the session was changed meanwhile, and no `session` if the activity was stored before. */
async function tryPostAsAgent(
  unit: UnitOfWork<App, Queryable>,
  { sessionId, input, idempotency }: Post,
): Promise<{ activity: AgentActivity; session?: Session } | undefined> {
  const { tx, now, caller, config } = unit
  const key = idempotency?.key ?? null
  const row = found(
    await tx.row<SessionRow & KnownActivity>(sql`
      select ${sessionColumns}, k.seq as known_seq, k.request_hash as known_hash
      from agent_sessions s
      left join agent_activities k on k.session_id = s.id and k.idempotency_key = ${key}
      where s.id = ${sessionId} and s.workspace_id = ${caller.workspaceId} and s.agent_id = ${caller.id}`),
  )
  const replayed = await replay(unit, sessionId, row, idempotency)
  if (replayed) return { activity: replayed }
  const session = sessionOf(row, now, config)
  refuseEnded(session)
  if (input.signal === 'auth') await checkMember(tx, caller, input.signal_metadata as AuthMetadata)
  const lastChange = session.lifecycle.updatedAt
  const rate = admitActivity(session.recent, { now, lastChange }, config.sessionRatePerSecond)
  if ('waitMs' in rate) throw rateLimitExceeded(rate.waitMs, config.sessionRatePerSecond)
  const activity = await append(
    unit,
    session,
    afterAppActivity(session.lifecycle, input.content.type as AppActivityType, now),
    {
      content: input.content as AgentActivity['content'],
      ephemeral: input.ephemeral ?? false,
      signal: input.signal ?? null,
      signalMetadata: input.signal_metadata ?? null,
      author: authorOf(config, caller, session),
      idempotency,
      recent: rate.recent,
    },
  )
  return activity && { activity, session }
}

/** An agent without an app and without an owner is the built-in one. */
const authorOf = (config: Config, { id, name, appId }: App, { ownerId }: Session): AgentActivity['author'] => ({
  kind: 'app',
  id,
  name,
  avatar_url: avatarOf(config, appId ? 'app' : ownerId ? 'personal' : 'deployment', appId),
})

async function checkMember(db: Queryable, { workspaceId }: App, { user_id }: AuthMetadata) {
  if (user_id === undefined) return
  const member = await db.row(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${user_id}`)
  if (!member) throw invalid({ 'signal_metadata.user_id': 'is not a member of this workspace' })
}

const postAsPerson = (ctx: Context, caller: Member, { sessionId, input, idempotency }: Post): Promise<AgentActivity> =>
  transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await mustSeeSession(tx, caller, sessionId)
    const [session] = await lockSessions(unit, sql`s.id = ${sessionId}`)
    const known = idempotency && (await findKnown(tx, sessionId, idempotency.key))
    const replayed = await replay(unit, sessionId, known, idempotency)
    if (replayed) return replayed
    const open = found(session)
    await refuseMessage(unit, open)
    const answer = input.signal_metadata as Answer | undefined
    if (answer) checkAnswer(answer, await readChoice(tx, sessionId, answer.in_reply_to))
    return postMessage(unit, open, input.content.body as string, { answer, idempotency })
  })

const readChoice = async (tx: Tx, sessionId: string, activityId: string) =>
  (
    await tx.row<{ offered: SelectMetadata }>(sql`
      select signal_metadata as offered from agent_activities
      where session_id = ${sessionId} and id = ${activityId} and signal = 'select'`)
  )?.offered ?? null

function rateLimitExceeded(waitMs: number, limit: number) {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  return rateLimited('activities', waitMs, {
    message: `An agent may post ${limit} activities a second in one session; wait for the number of seconds in Retry-After.`,
    headers: { 'ratelimit-limit': String(limit), 'ratelimit-remaining': '0', 'ratelimit-reset': seconds },
  })
}
