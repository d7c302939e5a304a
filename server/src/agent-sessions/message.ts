import type { AgentActivity, Answer } from '@baton/protocol'
import { linkReferenced } from '../files/links.ts'
import type { Member } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { markQuestionsRead } from '../inbox/answered.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { type ActivityDraft, append } from './append.ts'
import { recordPrompted } from './events.ts'
import type { Idempotency } from './idempotency.ts'
import { reportOutcome } from './outcomes.ts'
import { canMessage, type Session, sessionEnded } from './session.ts'
import { sendSessionHint } from './session-hint.ts'
import { acceptsMessages, afterMessage, beginStopping, type Lifecycle } from './state.ts'
import { budgetReached, findReachedLimit } from './usage.ts'

/** Throws if the caller may not write in a locked session now. */
export async function refuseMessage(unit: UnitOfWork<Member>, session: Session) {
  if (!canMessage(session, unit.caller))
    throw new ApiError('FORBIDDEN', {}, { message: 'A personal agent accepts messages only from its owner.' })
  if (!acceptsMessages(session.lifecycle)) throw sessionEnded(session)
  const limit = await findReachedLimit(unit, session)
  if (limit) throw budgetReached(limit)
}

/** Adds a person's message to a locked session and notifies its agent. */
export const postMessage = (
  unit: UnitOfWork<Member>,
  session: Session,
  body: string,
  { answer, idempotency }: { answer?: Answer | undefined; idempotency?: Idempotency | undefined } = {},
) =>
  appendPrompt(unit, session, afterMessage(session.lifecycle, unit.now), {
    content: { type: 'prompt', body },
    signalMetadata: answer ?? null,
    idempotency,
  })

/** Adds the stop signal to a locked session (activity.stop-activity, activity.undelegated-stop-activity). */
export const postStop = (unit: UnitOfWork<Member>, session: Session, reason: 'stopped' | 'undelegated') =>
  appendPrompt(unit, session, beginStopping(session.lifecycle, reason, unit.now), {
    content: { type: 'prompt', body: 'Stop' },
    signal: 'stop',
    signalMetadata: { reason },
  })

async function appendPrompt(
  unit: UnitOfWork<Member>,
  session: Session,
  lifecycle: Lifecycle,
  draft: Omit<ActivityDraft, 'author'>,
): Promise<AgentActivity> {
  const { tx, caller } = unit
  const author = { kind: 'user', id: caller.id, name: caller.name, avatar_url: null } as const
  const activity = await append(unit, session, lifecycle, { ...draft, author })
  if (!activity) throw new Error(`session ${session.id} was changed though it was locked`)
  if (draft.content.type === 'prompt') {
    await linkReferenced(unit, { type: 'session', id: session.id }, draft.content.body)
  }
  await recordPrompted(unit, session, activity)
  await markQuestionsRead(unit, session)
  sendSessionHint(tx, session)
  const reason = lifecycle.state === 'stopping' ? lifecycle.endReason : null
  await reportOutcome(
    unit,
    session,
    reason === 'stopped' || reason === 'undelegated' ? reason : 'message',
    activity.seq,
  )
  return activity
}
