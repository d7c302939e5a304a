import type { Automation } from '@baton/protocol'
import type { Context } from '../context.ts'
import { counters } from '../counters.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { dueInstants, nextInstant, type Schedule } from './cron.ts'
import { insertRuns } from './triggers.ts'

const atOnce = 50

interface Due extends Pick<Automation, 'id' | 'version'> {
  workspaceId: string
  trigger: Schedule
  nextAt: string
}

/** Writes the runs of all schedules that are due. Any number of workers may call it. */
export async function startDueRuns(ctx: Context): Promise<void> {
  for (;;) if ((await transact(ctx, null, startBatch)) < atOnce) return
}

async function startBatch(unit: UnitOfWork): Promise<number> {
  const { tx, now } = unit
  const due = await tx.rows<Due>(sql`
    select a.id, a.workspace_id as "workspaceId", a.version, a.trigger, a.next_at as "nextAt" from automations a
    where a.next_at <= ${now} and a.state = 'on'
      and not exists (select from workspaces w where w.id = a.workspace_id and w.deletion_at is not null)
    order by a.next_at limit ${atOnce} for no key update of a skip locked`)
  for (const one of due) await start(unit, one)
  return due.length
}

async function start(unit: UnitOfWork, { id, workspaceId, version, trigger, nextAt }: Due) {
  const { tx, now } = unit
  const { run, missed } = dueInstants(trigger, new Date(nextAt), now)
  if (missed) {
    const inserted = await tx.run(sql`
      insert into automation_runs (id, workspace_id, automation_id, version, cause, state, reason, message, created_at,
        finished_at)
      values (${newId('run')}, ${workspaceId}, ${id}, ${version}, ${missed.toISOString()}, 'skipped', 'missed',
        'The service did not run at this time.', ${now}, ${now})
      on conflict do nothing`)
    if (inserted > 0) counters.automationRuns.inc({ state: 'skipped' })
  }
  if (run) await insertRuns(unit, [{ automationId: id, workspaceId, version, cause: run.toISOString(), issueId: null }])
  await tx.run(sql`update automations set next_at = ${nextInstant(trigger, now)} where id = ${id}`)
}
