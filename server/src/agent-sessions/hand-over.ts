import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import type { Session } from './session.ts'

/** What agents inside the service are woken by. */
export const workBell = 'agent work'

/** decisions 10: what an app hears by an event, an agent inside the service finds as a piece of work. */
export async function handOver({ tx, now }: UnitOfWork, { id, workspaceId }: Session, causeSeq: number) {
  await tx.run(sql`
    insert into agent_work (id, workspace_id, session_id, cause_seq, created_at)
    values (${newId('wrk')}, ${workspaceId}, ${id}, ${causeSeq}, ${now})`)
  tx.afterCommit('work', [workBell])
}
