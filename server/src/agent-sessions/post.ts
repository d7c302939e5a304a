import type { AgentActivity, Answer, AppActivityType, AuthMetadata, NewActivity, SelectMetadata } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { isConflict, type Queryable, type Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor, App, Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { transact, type UnitOfWork, withoutTransaction } from '../unit-of-work.ts'
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

/** An activity that was checked, for one session. */
interface Post {
  id: string
  said: NewActivity
  idempotency: Idempotency | undefined
}

interface Sent {
  body: unknown
  /** The header Idempotency-Key. */
  key: string | string[] | undefined
}

export function postActivity(ctx: Context, caller: Actor, id: string, sent: Sent) {
  const key = checkedKey(sent.key)
  const said = checkedBody(caller.kind, sent.body)
  const idempotency = key === undefined ? undefined : { key, requestHash: hashOf(caller, said) }
  const post = { id, said, idempotency }
  return caller.kind === 'app' ? postAsAgent(ctx, caller, post) : postAsPerson(ctx, caller, post)
}

/**
 * The busiest call there is: two statements and no lock. It reads, decides, and writes if nobody has written in between;
 * if somebody has, it looks again, and at last takes the lock and waits its turn. What asks for people is told to them
 * in the same transaction.
 */
async function postAsAgent(ctx: Context, caller: App, post: Post): Promise<AgentActivity> {
  const { id, said } = post
  for (let tries = 0; tries < quickTries && !tellsPeople(said.content.type); tries++) {
    const spoken = await speakAsAgent(withoutTransaction(ctx, caller), post).catch(ignoreConflict)
    if (!spoken) continue
    if (spoken.session) watched(ctx.db, spoken.session)
    return spoken.activity
  }
  return transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await holdPlace(tx, caller.id, id)
    await tx.row(sql`select 1 from agent_sessions where id = ${id} and agent_id = ${caller.id} for update`)
    const spoken = found(await speakAsAgent(unit, post))
    if (spoken.session) {
      watched(tx, spoken.session)
      await notifyPeople(unit, spoken.session, said.content.type)
    }
    return spoken.activity
  })
}

function ignoreConflict(error: unknown): undefined {
  if (!isConflict(error)) throw error
}

/** Undefined: the session was changed meanwhile. Without a session: the activity had been stored before. */
async function speakAsAgent(
  unit: UnitOfWork<App, Queryable>,
  { id, said, idempotency }: Post,
): Promise<{ activity: AgentActivity; session?: Session } | undefined> {
  const { tx, now, caller, config } = unit
  const key = idempotency?.key ?? null
  const row = found(
    await tx.row<SessionRow & Known>(sql`
      select ${sessionColumns}, k.seq as known_seq, k.request_hash as known_hash
      from agent_sessions s
      left join agent_activities k on k.session_id = s.id and k.idempotency_key = ${key}
      where s.id = ${id} and s.workspace_id = ${caller.workspaceId} and s.agent_id = ${caller.id}`),
  )
  const replayed = await replay(unit, id, row, idempotency)
  if (replayed) return { activity: replayed }
  const session = sessionOf(row, now, config)
  refuseEnded(session)
  if (said.signal === 'auth') await mustKnowPerson(tx, caller, said.signal_metadata as AuthMetadata)
  const turn = takeTurn(session.recent, now, config.sessionRatePerSecond)
  if ('waitMs' in turn) throw tooFast(turn.waitMs, config.sessionRatePerSecond)
  const activity = await append(
    unit,
    session,
    afterAppActivity(session.standing, said.content.type as AppActivityType, now),
    {
      content: said.content as AgentActivity['content'],
      ephemeral: said.ephemeral ?? false,
      signal: said.signal ?? null,
      signalMetadata: said.signal_metadata ?? null,
      author: authorOf(config, caller, session),
      idempotency,
      recent: turn.recent,
    },
  )
  return activity && { activity, session }
}

/** Inside the service, whoever works for nobody in particular is the built-in agent. */
const authorOf = (config: Config, { id, name, appId }: App, { ownerId }: Session): AgentActivity['author'] => ({
  kind: 'app',
  id,
  name,
  avatar_url: avatarOf(config, appId ? 'app' : ownerId ? 'personal' : 'deployment', appId),
})

async function mustKnowPerson(db: Queryable, { workspaceId }: App, { user_id }: AuthMetadata) {
  if (user_id === undefined) return
  const member = await db.row(sql`
    select 1 from memberships where workspace_id = ${workspaceId} and user_id = ${user_id}`)
  if (!member) throw invalid({ 'signal_metadata.user_id': 'is not a member of this workspace' })
}

const postAsPerson = (ctx: Context, caller: Member, { id, said, idempotency }: Post): Promise<AgentActivity> =>
  transact(ctx, caller, async (unit) => {
    const { tx } = unit
    await mustSeeSession(tx, caller, id)
    const [session] = await lockSessions(unit, sql`s.id = ${id}`)
    const known = idempotency && (await findKnown(tx, id, idempotency.key))
    const replayed = await replay(unit, id, known, idempotency)
    if (replayed) return replayed
    const open = found(session)
    if (!hears(open, caller)) throw new ApiError('FORBIDDEN', {}, { message: 'This agent works for its owner alone.' })
    if (!takesMessages(open.standing)) throw ended(open)
    const answer = said.signal_metadata as Answer | undefined
    if (answer) checkAnswer(answer, await choiceOffered(tx, id, answer.in_reply_to))
    return message(unit, open, said.content.body as string, { answer, idempotency })
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
