import type { Cycle, Milestone, NewCycle, NewMilestone } from '@baton/protocol'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { projectInReach } from '../installations/reach.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { teamCovered } from '../workspaces/coverage.ts'
import { cycles, milestones } from './resources.ts'

export const createMilestone = (ctx: Context, caller: Actor, body: NewMilestone): Promise<Milestone> =>
  transact(ctx, caller, async (unit) => {
    await mustExist(unit, 'project', body.project_id)
    return milestones.insert(unit, body)
  })

export const createCycle = (ctx: Context, caller: Actor, body: NewCycle): Promise<Cycle> =>
  transact(ctx, caller, async (unit) => {
    await mustExist(unit, 'team', body.team_id)
    return cycles.insert(unit, body)
  })

/** Answers 422 unless the caller can access the project or team, and locks it against deletion. */
async function mustExist({ tx, caller }: UnitOfWork<Actor>, kind: 'project' | 'team', id: string) {
  const row = await tx.row(
    kind === 'project'
      ? sql`
        select 1 from projects p where p.workspace_id = ${caller.workspaceId} and p.id = ${id}
          and ${projectInReach(caller)} for key share`
      : sql`
        select 1 from teams where workspace_id = ${caller.workspaceId} and id = ${id}
          and ${teamCovered(caller, sql`id`)} for key share`,
  )
  if (!row) throw invalid({ [`${kind}_id`]: `is not a ${kind} of this workspace` })
}
