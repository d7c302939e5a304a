import type { AgentActivity, Answer } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import type { Member } from '../http/caller.ts'
import { append, type Utterance } from './append.ts'
import { recordPrompted } from './events.ts'
import type { Idempotency } from './idempotency.ts'
import { settleQuestions } from './inbox.ts'
import type { Session } from './session.ts'
import { afterMessage, type Standing, stop } from './state.ts'
import { watched } from './watched.ts'

/** A person writes in a session that they hold locked; its agent hears of it. */
export const message = (
  tx: Tx,
  ctx: Context,
  caller: Member,
  session: Session,
  body: string,
  { answer, idempotency }: { answer?: Answer | undefined; idempotency?: Idempotency | undefined } = {},
) =>
  prompt(tx, ctx, caller, session, afterMessage(session.standing, ctx.clock.now()), {
    content: { type: 'prompt', body },
    signalMetadata: answer ?? null,
    idempotency,
  })

/** A person has the agent stop, by Stop itself or by taking the issue away from it (decisions 6). */
export const stopSignal = (tx: Tx, ctx: Context, caller: Member, session: Session, reason: 'stopped' | 'undelegated') =>
  prompt(tx, ctx, caller, session, stop(session.standing, reason, ctx.clock.now()), {
    content: { type: 'prompt', body: 'Stop' },
    signal: 'stop',
    signalMetadata: { reason },
  })

async function prompt(
  tx: Tx,
  ctx: Context,
  caller: Member,
  session: Session,
  standing: Standing,
  said: Omit<Utterance, 'author'>,
): Promise<AgentActivity> {
  const now = ctx.clock.now()
  const author = { kind: 'user', id: caller.id, name: caller.name, avatar_url: null } as const
  const activity = await append(tx, session, standing, { ...said, author }, now, ctx.config)
  if (!activity) throw new Error(`session ${session.id} was changed though it was locked`)
  await recordPrompted(tx, ctx, session, caller, activity)
  await settleQuestions(tx, now, session)
  watched(tx, session)
  return activity
}
