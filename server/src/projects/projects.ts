import { type NewProject, type Project, type ProjectChange, projectFields } from '@baton/protocol'
import { projectUrl } from '../addresses.ts'
import { actorOnProject } from '../agent-sessions/acting-for.ts'
import { endOnDeleted, endOnMoved, endOnPersonal } from '../agent-sessions/end.ts'
import { laterThan } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { recordThread } from '../events/comments.ts'
import {
  actorOf,
  changesToRecord,
  type EventActor,
  type ItemChange,
  only,
  previousValues,
  record,
} from '../events/record.ts'
import { linkReferenced } from '../files/links.ts'
import type { Actor } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { holdCoverage } from '../installations/agents.ts'
import { outOfReach, projectInReach, reached, reaches } from '../installations/reach.ts'
import { removeProjectFromIssues } from '../issues/queries.ts'
import { hintsOf, sendHints } from '../live/hint.ts'
import { References } from '../planning/references.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { covers } from '../workspaces/coverage.ts'
import { insertProject, projectColumns, replaceLabelRows, type StoredProject, updateProjectRow } from './queries.ts'
import { applyChange, badReferences, referencesToCheck } from './rules.ts'

export const withUrl = (config: Config, project: StoredProject): Project => ({
  ...project,
  url: projectUrl(config, project.id),
})

export const listProjects = (ctx: Context, caller: Actor, query: PageQuery) =>
  page<Project>(
    ctx.keys,
    'projects',
    query,
    (project) => [project.id],
    async (after, count) => {
      const projects = await ctx.db.rows<StoredProject>(sql`
      select ${projectColumns} from projects p
      where p.workspace_id = ${caller.workspaceId} and ${projectInReach(caller)}
        ${after ? sql`and p.id < ${after[0]}` : none}
      order by p.id desc limit ${count}`)
      return projects.map((project) => withUrl(ctx.config, project))
    },
  )

export const readProject = (ctx: Context, caller: Actor, id: string) => findProject(ctx.db, ctx.config, caller, id)

export const createProject = (ctx: Context, caller: Actor, body: NewProject) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now, config } = unit
    if (caller.kind === 'app') checkFromApp(body)
    const project = withUrl(config, applyChange(emptyProject(caller, now), body, caller.id, now))
    await checkReferences(unit, null, project)
    await insertProject(tx, caller.workspaceId, project)
    await linkReferenced(unit, { type: 'project', id: project.id }, project.description)
    if (project.personal) sendProjectHints(unit, 'create', project)
    else await record(unit, [toItemChange(actorOf(caller), 'create', project)])
    return project
  })

export const updateProject = (ctx: Context, caller: Actor, id: string, change: ProjectChange) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    if (change.team_ids) await holdCoverage(tx, caller.workspaceId)
    const before = await lockVisibleProject(unit, id)
    if (caller.kind === 'app') checkFromApp(change)
    if (change.personal && !before.personal && before.owner_id !== caller.id) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only the owner can make a project personal.' })
    }
    const after = applyChange(before, change, caller.id, now)
    await checkReferences(unit, before, after)
    if (!previousValues(before, after, [...projectFields, 'personal'])) return after
    after.updated_at = laterThan(before.updated_at, now)
    const actor = await actorOnProject(unit, id)
    await endLostSessions(unit, before, after)
    await updateProjectRow(tx, caller.workspaceId, after)
    if (after.description !== before.description) {
      await linkReferenced(unit, { type: 'project', id }, after.description)
    }
    await record(unit, updateToRecord(actor, before, after))
    if (after.personal) sendProjectHints(unit, 'update', after, !before.personal)
    if (before.personal && !after.personal) await recordThread(unit, { projectId: after.id })
    // Shared issues must not refer to a personal project.
    if (after.personal && !before.personal) await removeProjectFromIssues(tx, after.id, caller.id)
    return after
  })

/** Gives every project that has one label another instead, personal ones included. */
export async function replaceLabelOfProjects(unit: UnitOfWork<Actor>, label: string, by: string) {
  const { tx, now, caller, config } = unit
  const locked = await tx.rows<{ id: string }>(sql`
    select id from projects where id in (select project_id from project_labels where label_id = ${label})
    order by id for update`)
  if (locked.length === 0) return
  const ids = locked.map(({ id }) => id)
  const stored = await tx.rows<StoredProject>(sql`select ${projectColumns} from projects p where p.id = any(${ids})`)
  const pairs = stored.map((project): [before: Project, after: Project] => {
    const before = withUrl(config, project)
    const label_ids = [...new Set([...before.label_ids.filter((id) => id !== label), by])].sort()
    return [before, { ...before, label_ids, updated_at: laterThan(before.updated_at, now) }]
  })
  await replaceLabelRows(tx, caller.workspaceId, pairs, label, by)
  await record(
    unit,
    pairs.flatMap(([before, after]) => updateToRecord(actorOf(caller), before, after)),
  )
  for (const [, after] of pairs) if (after.personal) sendProjectHints(unit, 'update', after)
}

export const deleteProject = (ctx: Context, caller: Actor, id: string) =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const project = await lockVisibleProject(unit, id)
    if (!project.team_ids.every((teamId) => covers(caller, teamId))) throw outOfReach(caller)
    const actor = await actorOnProject(unit, id)
    await endOnDeleted(unit, { projectId: project.id })
    await tx.run(sql`delete from projects where id = ${project.id}`)
    if (project.personal) return sendProjectHints(unit, 'remove', project)
    const removed = { ...project, updated_at: laterThan(project.updated_at, now) }
    await record(unit, [toItemChange(actor, 'remove', removed)])
  })

/** Ends the sessions of agents that lose access to the project. Call before the project is written. */
async function endLostSessions(unit: UnitOfWork, before: Project, after: Project) {
  if (after.personal && !before.personal) await endOnPersonal(unit, { projectId: after.id })
  else if (!before.team_ids.every((id) => after.team_ids.includes(id))) {
    await endOnMoved(unit, { projectId: after.id }, after.team_ids)
  }
}

async function lockVisibleProject({ tx, caller, config }: UnitOfWork<Actor>, id: string): Promise<Project> {
  await tx.rows(sql`select 1 from projects where workspace_id = ${caller.workspaceId} and id = ${id} for update`)
  return findProject(tx, config, caller, id)
}

async function findProject(db: Queryable, config: Config, caller: Actor, id: string): Promise<Project> {
  const project = await db.row<StoredProject & { reached: boolean }>(sql`
    select ${projectColumns}, ${projectInReach(caller)} as reached from projects p
    where p.workspace_id = ${caller.workspaceId} and p.id = ${id}`)
  return withUrl(config, reached(caller, project))
}

async function checkReferences({ tx, caller }: UnitOfWork<Actor>, before: Project | null, after: Project) {
  const checked = referencesToCheck(after, before)
  const references = await References.find(tx, caller, checked)
  const kept = before?.team_ids ?? []
  for (const id of after.team_ids) if (!kept.includes(id)) references.refuseUncoveredTeam(caller, id)
  // An app must not remove teams that it does not cover.
  const dropped = kept.filter((id) => !after.team_ids.includes(id))
  if (!dropped.every((id) => covers(caller, id))) throw outOfReach(caller)
  const bad = badReferences(after, caller, checked, references)
  if (Object.keys(bad).length > 0) throw invalid(bad)
  if (reaches(caller, { personal: after.personal, personalOf: after.owner_id, teamIds: after.team_ids })) return
  // An app that covers selected teams must name one of them for a new project, and must keep one in an existing one.
  throw before || after.personal
    ? outOfReach(caller)
    : invalid({ team_ids: 'must contain a team that the app is installed for' })
}

function checkFromApp({ personal }: ProjectChange) {
  if (personal) throw invalid({ personal: 'must be false for an app' })
}

/** Hints for the owner of a personal project, whose changes are not recorded as events. */
function sendProjectHints(
  { tx, caller }: UnitOfWork<Actor>,
  action: ItemChange['action'],
  project: Project,
  wasShared = false,
) {
  const item = { workspace_id: caller.workspaceId, type: 'Project', id: project.id, action } as const
  sendHints(tx, hintsOf(item, { personal: true, personalOf: project.owner_id }, wasShared))
}

const toItemChange = (actor: EventActor, action: 'create' | 'remove', project: Project): ItemChange => ({
  type: 'Project',
  action,
  actor,
  data: only(project, projectFields),
  url: project.url,
  teamIds: project.team_ids,
})

const updateToRecord = (actor: EventActor, before: Project, after: Project): ItemChange[] =>
  changesToRecord([before, after], projectFields, toItemChange(actor, 'create', after), before.team_ids)

const emptyProject = (caller: Actor, now: Date): Project => ({
  id: newId('prj'),
  title: '',
  description: '',
  status: 'idea',
  priority: 'no_priority',
  health_status: null,
  owner_id: caller.id,
  lead_id: null,
  initiative_id: null,
  member_ids: [],
  team_ids: [],
  label_ids: [],
  start_date: null,
  target_date: null,
  completed_at: null,
  progress: null,
  created_at: now.toISOString(),
  updated_at: now.toISOString(),
  url: '',
  personal: false,
})

/** Deletes the personal projects of an erased person. Only that person could see them, so there is no event. */
export const deletePersonalProjects = (tx: Tx, userId: string) =>
  tx.run(sql`delete from projects where personal and owner_id = ${userId}`)
