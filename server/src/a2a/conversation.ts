import { limits } from '@baton/protocol'
import { type SessionRow, sessionColumns, sessionOf } from '../agent-sessions/session.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { cancelDelivery, holdForTask, releaseHeld } from '../delivery/held.ts'
import type { Claimed } from '../delivery/stages.ts'
import { found } from '../http/errors.ts'
import { newId } from '../ids.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import type { Agent, SentRequest } from './calls.ts'
import { isEnded, isResting, needsInput, type TaskState } from './mapping.ts'
import { isStop, newContext, type Place, type SessionEvent } from './message.ts'

// The rows of conversations: which message may be sent now, what became of it, and who follows its task.

/** Renewed every few seconds. After it, another worker follows the task (a2a.worker-dies). */
export const leaseMs = 30_000

export interface TaskRow {
  id: string
  sessionId: string
  workspaceId: string
  appId: string
  taskId: string
  contextId: string
  state: TaskState
  cancelSent: boolean
  changedAt: string
}

const taskColumns = sql`t.id, t.session_id as "sessionId", t.workspace_id as "workspaceId", t.app_id as "appId",
  t.task_id as "taskId", t.context_id as "contextId", t.state, t.cancel_sent as "cancelSent", t.changed_at as "changedAt"`

const agentColumns = sql`x.app_id as "appId", x.interface, (x.card->>'streaming')::boolean as streaming, x.credential`

export const findAgent = async (db: Queryable, endpointId: string): Promise<Agent> =>
  found(
    await db.row<Agent>(sql`
      select ${agentColumns} from a2a_apps x join endpoints e on e.app_id = x.app_id where e.id = ${endpointId}`),
  )

/** This worker follows the task from now on. Undefined if it has ended. */
export const takeTask = (db: Queryable, id: string, owner: string, now: Date) =>
  db.row<TaskRow>(sql`
    update a2a_tasks t set owner = ${owner}, owner_until = ${plus(now, leaseMs)} where t.id = ${id} and t.tracked
    returning ${taskColumns}`)

export const readAgent = async (db: Queryable, appId: string): Promise<Agent> =>
  found(
    await db.row<Agent>(sql`
      select ${agentColumns} from a2a_apps x where x.app_id = ${appId}`),
  )

/** What to do with a delivery. */
export type Admission =
  /** It waits for the task, or for an earlier message. */
  | { kind: 'wait' }
  /** Another worker may be sending it; it is looked at again when the lease ends. */
  | { kind: 'later' }
  /** The session is over; nothing is sent. */
  | { kind: 'over' }
  /** An attempt with this number was answered, and its worker died before it wrote that down. */
  | { kind: 'answered' }
  /** An attempt with this number was begun, and its outcome is unknown. */
  | { kind: 'interrupted'; place: Place }
  | { kind: 'send'; place: Place }
  | { kind: 'cancel'; task: TaskRow | null }

interface Admitted {
  appId: string
  sessionId: string
  workspaceId: string
}

/**
 * Decides under the lock of the session, so that its messages are sent one after the other, and never to a task that
 * works (a2a.message-waits). A message is written down before it is sent: servers do not recognise a repeated one.
 */
export const admit = (ctx: Context, claimed: Claimed, event: SessionEvent, sendMs: number) =>
  transact(ctx, null, async (unit): Promise<Admission & { session: Admitted }> => {
    const { tx, now } = unit
    const session = await lockSession(unit, event.data.agent_session.id)
    const { sessionId, workspaceId } = session
    const decided = await decide(unit, claimed, event, session)
    if (decided.kind === 'wait') await holdForTask(tx, claimed.endpointId, claimed.id)
    if (decided.kind === 'over') await cancelDelivery(tx, claimed, now)
    if (decided.kind === 'send') {
      await tx.run(sql`
        insert into a2a_messages as m (delivery_id, session_id, workspace_id, attempt, started_at, give_up_at)
        values (${claimed.id}, ${sessionId}, ${workspaceId}, ${claimed.attempts + 1}, ${now}, ${plus(now, sendMs)})
        on conflict (delivery_id) do update set attempt = excluded.attempt, started_at = excluded.started_at,
          give_up_at = excluded.give_up_at, outcome = null`)
    }
    return { ...decided, session }
  })

interface LockedSession extends Admitted {
  contextId: string | null
  isEnded: boolean
  isStopping: boolean
}

async function lockSession({ tx, now, config }: UnitOfWork, sessionId: string): Promise<LockedSession> {
  await tx.run(sql`
    insert into a2a_sessions (session_id, workspace_id, app_id)
    select s.id, s.workspace_id, i.app_id from agent_sessions s join installations i on i.id = s.installation_id
    where s.id = ${sessionId} on conflict do nothing`)
  const { context_id, app_id } = found(
    await tx.row<{ context_id: string | null; app_id: string }>(sql`
      select context_id, app_id from a2a_sessions where session_id = ${sessionId} for no key update`),
  )
  const row = found(
    await tx.row<SessionRow>(sql`select ${sessionColumns} from agent_sessions s where s.id = ${sessionId}`),
  )
  const { lifecycle, workspaceId } = sessionOf(row, now, config)
  return {
    sessionId,
    workspaceId,
    appId: app_id,
    contextId: context_id,
    isEnded: lifecycle.endedAt !== null,
    isStopping: lifecycle.state === 'stopping',
  }
}

async function decide(
  { tx, now }: UnitOfWork,
  claimed: Claimed,
  event: SessionEvent,
  session: LockedSession,
): Promise<Admission> {
  const { sessionId, contextId } = session
  const message = await tx.row<{ attempt: number; giveUpAt: string; outcome: string | null }>(sql`
    select attempt, give_up_at as "giveUpAt", outcome from a2a_messages
    where delivery_id = ${claimed.id}`)
  const isSame = message?.attempt === claimed.attempts + 1
  if (isSame && message.outcome === 'answered') return { kind: 'answered' }
  if (session.isEnded || (session.isStopping && !isStop(event))) return { kind: 'over' }
  const task = await latestTask(tx, sessionId)
  const place = placeFor(contextId, task)
  if (isSame && message.outcome === null) {
    if (new Date(message.giveUpAt) > now) return { kind: 'later' }
    return { kind: 'interrupted', place }
  }
  const sending = await tx.row(sql`
    select 1 from a2a_messages
    where session_id = ${sessionId} and delivery_id <> ${claimed.id} and outcome is null and give_up_at > ${now}`)
  if (sending) return { kind: 'wait' }
  if (isStop(event)) return { kind: 'cancel', task: task && !isEnded(task.state) ? task : null }
  if ((task && !isResting(task.state)) || (await hasEarlier(tx, claimed, sessionId))) return { kind: 'wait' }
  return { kind: 'send', place }
}

/** A task that needs input gets the message; after one that ended, the same context goes on (a2a.restart-in-context). */
function placeFor(contextId: string | null, task: TaskRow | null): Place {
  if (contextId === null) return newContext
  if (task && needsInput(task.state)) return { contextId, taskId: task.taskId, previousTaskId: null }
  return { contextId, taskId: null, previousTaskId: task?.taskId ?? null }
}

const latestTask = async (tx: Queryable, sessionId: string): Promise<TaskRow | null> =>
  (await tx.row<TaskRow>(sql`
    select ${taskColumns} from a2a_tasks t where t.session_id = ${sessionId} order by t.updated_at desc, t.id desc limit 1`)) ??
  null

/** Whether an earlier message of the session is still to be sent. Event ids sort by time. */
const hasEarlier = async (tx: Queryable, claimed: Claimed, sessionId: string) =>
  (await tx.row(sql`
    select 1 from events v
    join deliveries d on d.endpoint_id = ${claimed.endpointId} and d.id = delivery_id(v.id, ${claimed.endpointId})
    left join a2a_messages m on m.delivery_id = d.id
    where v.agent_session_id = ${sessionId} and v.id < ${claimed.app?.eventId ?? ''} and d.status = 'pending'
      and m.outcome is distinct from 'answered' and m.outcome is distinct from 'failed'`)) !== undefined

interface Answer {
  contextId: string
  /** Null for a message without a task. */
  task: { id: string; state: TaskState } | null
  request: SentRequest | null
  owner: string
}

/** The agent took the message. Its task is followed by this worker, until the last activity is posted. */
export const recordAnswer = (ctx: Context, claimed: Claimed, session: Admitted, answer: Answer) =>
  transact(ctx, null, async ({ tx, now }): Promise<TaskRow | null> => {
    const { sessionId, workspaceId, appId } = session
    const { contextId, task, request, owner } = answer
    await tx.run(
      sql`update a2a_sessions set context_id = coalesce(${contextId || null}, context_id) where session_id = ${sessionId}`,
    )
    await tx.run(sql`
      update a2a_messages set outcome = 'answered', request = ${request && JSON.stringify(request)}::jsonb
      where delivery_id = ${claimed.id}`)
    const row = task
      ? found(
          await tx.row<TaskRow>(sql`
            insert into a2a_tasks as t (id, session_id, workspace_id, app_id, task_id, context_id, state, tracked, owner,
              owner_until, changed_at, updated_at)
            values (${newId('tsk')}, ${sessionId}, ${workspaceId}, ${appId}, ${task.id}, ${contextId}, ${'submitted'},
              true, ${owner}, ${plus(now, leaseMs)}, ${now}, ${now})
            on conflict (session_id, task_id) do update set state = 'submitted', tracked = true, owner = excluded.owner,
              owner_until = excluded.owner_until, changed_at = excluded.changed_at, updated_at = excluded.updated_at
            returning ${taskColumns}`),
        )
      : null
    await releaseHeld(tx, claimed.endpointId, sessionId)
    return row
  })

/** The attempt is over without an answer. `failed`: for good, so that later messages of the session can follow. */
export const recordFailure = (
  ctx: Context,
  claimed: Claimed,
  sessionId: string,
  request: SentRequest | null,
  isFinal: boolean,
) =>
  transact(ctx, null, async ({ tx }) => {
    await tx.run(sql`
      update a2a_messages set outcome = ${isFinal ? 'failed' : 'retry'},
        request = coalesce(${request && JSON.stringify(request)}::jsonb, request)
      where delivery_id = ${claimed.id}`)
    await releaseHeld(tx, claimed.endpointId, sessionId)
  })

/** Stores the state of a task that this worker follows. False if another one does by now. */
export const saveState = (ctx: Context, task: TaskRow, owner: string, state: TaskState, changedAt: Date) =>
  transact(ctx, null, async ({ tx, now }): Promise<boolean> => {
    // As in `admit`, so that a message that is told to wait now is released.
    await tx.row(sql`select 1 from a2a_sessions where session_id = ${task.sessionId} for no key update`)
    const saved = await tx.run(sql`
      update a2a_tasks set state = ${state}, tracked = ${!isEnded(state)},
        changed_at = ${changedAt}, updated_at = ${now}
      where id = ${task.id} and owner = ${owner} and tracked`)
    if (saved > 0 && isResting(state)) await releaseHeldOf(tx, task)
    return saved > 0
  })

/** Nothing more is posted about the task, although it has not ended. */
export const stopFollowing = (ctx: Context, task: TaskRow, owner: string) =>
  transact(ctx, null, async ({ tx, now }) => {
    await tx.run(sql`
      update a2a_tasks set tracked = false, state = 'unknown', updated_at = ${now} where id = ${task.id} and owner = ${owner}`)
    await releaseHeldOf(tx, task)
  })

async function releaseHeldOf(tx: Tx, { sessionId, appId }: TaskRow) {
  const app = await tx.row<{ endpointId: string }>(sql`
    select endpoint_id as "endpointId" from agent_apps where id = ${appId}`)
  if (app) await releaseHeld(tx, app.endpointId, sessionId)
}

/** True for one caller only: an agent is asked once to cancel a task. */
export const markCancelSent = async (db: Queryable, task: TaskRow): Promise<boolean> =>
  (await db.run(sql`update a2a_tasks set cancel_sent = true where id = ${task.id} and not cancel_sent`)) > 0

/** Takes tasks that no living worker follows. */
export const claimTasks = (db: Queryable, now: Date, owner: string, count: number): Promise<TaskRow[]> =>
  db.rows(sql`
    with next as (
      select id from a2a_tasks where tracked and (owner_until is null or owner_until <= ${now})
      order by owner_until limit ${count} for update skip locked
    )
    update a2a_tasks t set owner = ${owner}, owner_until = ${plus(now, leaseMs)} from next where t.id = next.id
    returning ${taskColumns}`)

/** Renews the leases of this worker, and returns its tasks, each with whether its session is over. */
export const renewTasks = (db: Queryable, now: Date, owner: string): Promise<(TaskRow & { isOver: boolean })[]> =>
  db.rows(sql`
    update a2a_tasks t set owner_until = ${plus(now, leaseMs)} from agent_sessions s
    where s.id = t.session_id and t.owner = ${owner} and t.tracked
    returning ${taskColumns}, s.ended_at is not null as "isOver"`)

/** A message is shown with its delivery, and is deleted as old as that. */
export const sweepMessages = (db: Queryable, now: Date) =>
  db.run(sql`delete from a2a_messages where started_at < ${plus(now, -days(limits.deliveryDays))}`)

/** Gives up tasks when a worker stops. On the embedded database, all: it has one process at a time. */
export const giveUpTasks = (db: Queryable, owner: string | null) =>
  db.run(sql`
    update a2a_tasks set owner = null, owner_until = null where tracked and (${owner}::text is null or owner = ${owner})`)

/** Requests as they were sent contain the names of people, within other texts. */
export const forgetRequestsWith = (tx: Queryable, texts: readonly string[]) =>
  tx.run(sql`
    update a2a_messages set request = null
    where exists (select from unnest(${texts}::text[]) t where strpos(request::text, t) > 0)`)
