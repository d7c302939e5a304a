import type { AgentActivity } from '@baton/protocol'
import type { SessionOutcome } from '../hooks.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Session } from './session.ts'

const kinds: Partial<Record<AgentActivity['type'], SessionOutcome['kind']>> = {
  response: 'finished',
  error: 'failed',
  elicitation: 'asked',
}

/** `session` is as it was before the activity. */
export async function reportActivity(unit: UnitOfWork, session: Session, { type, seq }: AgentActivity) {
  const kind = kinds[type]
  if (kind) await reportOutcome(unit, session, kind, seq)
}

export const reportOutcome = async (
  unit: UnitOfWork,
  session: Session,
  kind: SessionOutcome['kind'],
  seq = session.lastSeq,
) => unit.hooks?.sessionOutcome(unit, session, { kind, seq, wasStopping: session.lifecycle.state === 'stopping' })
