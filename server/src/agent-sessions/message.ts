import type { AgentActivity, Answer } from '@baton/protocol'
import type { Member } from '../http/caller.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { append, type Utterance } from './append.ts'
import { recordPrompted } from './events.ts'
import type { Idempotency } from './idempotency.ts'
import { settleQuestions } from './inbox.ts'
import type { Session } from './session.ts'
import { afterMessage, type Standing, stop } from './state.ts'
import { watched } from './watched.ts'

/** A person writes in a session that they hold locked; its agent hears of it. */
export const message = (
  unit: UnitOfWork<Member>,
  session: Session,
  body: string,
  { answer, idempotency }: { answer?: Answer | undefined; idempotency?: Idempotency | undefined } = {},
) =>
  prompt(unit, session, afterMessage(session.standing, unit.now), {
    content: { type: 'prompt', body },
    signalMetadata: answer ?? null,
    idempotency,
  })

/** A person has the agent stop, by Stop itself or by taking the issue away from it (decisions 6). */
export const stopSignal = (unit: UnitOfWork<Member>, session: Session, reason: 'stopped' | 'undelegated') =>
  prompt(unit, session, stop(session.standing, reason, unit.now), {
    content: { type: 'prompt', body: 'Stop' },
    signal: 'stop',
    signalMetadata: { reason },
  })

async function prompt(
  unit: UnitOfWork<Member>,
  session: Session,
  standing: Standing,
  said: Omit<Utterance, 'author'>,
): Promise<AgentActivity> {
  const { tx, caller } = unit
  const author = { kind: 'user', id: caller.id, name: caller.name, avatar_url: null } as const
  const activity = await append(unit, session, standing, { ...said, author })
  if (!activity) throw new Error(`session ${session.id} was changed though it was locked`)
  await recordPrompted(unit, session, activity)
  await settleQuestions(unit, session)
  watched(tx, session)
  return activity
}
