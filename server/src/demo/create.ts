import { createBuiltInAgent } from '../agents/inside-agents.ts'
import { type Clock, days } from '../clock.ts'
import { createComment } from '../comments/comments.ts'
import type { Context } from '../context.ts'
import { deleteSetting, insertSetting, updateSetting } from '../db/settings.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { createIssue } from '../issues/create.ts'
import { hashPassword } from '../login/passwords.ts'
import { createAccount } from '../login/sign-up.ts'
import { deleteUsers } from '../login/users.ts'
import { createMilestone } from '../planning/create.ts'
import { labels } from '../planning/resources.ts'
import { createProject } from '../projects/projects.ts'
import { transact } from '../unit-of-work.ts'
import { addMember } from '../workspaces/members.ts'
import { addTeamMember, createTeam, updateTeam } from '../workspaces/teams.ts'
import { createWorkspace, deleteWorkspaces, updateWorkspace } from '../workspaces/workspaces.ts'
import * as content from './content.ts'

/**
 * Fills an empty database with the demo workspace, through the same verbs as the API, dated over the last six weeks.
 * Leftovers of an interrupted run are removed first.
 */
export async function createDemo(ctx: Context): Promise<boolean> {
  await removeUnfinished(ctx)
  if (await ctx.db.row(sql`select 1 from users limit 1`)) return false
  if (!(await insertSetting(ctx.db, 'demo', 'started'))) return false
  const { past, reach } = pastClock(ctx.clock)
  await fill({ ...ctx, config: { ...ctx.config, signup: 'open', mail: null }, clock: past }, reach)
  await updateSetting(ctx.db, 'demo', 'done')
  return true
}

async function removeUnfinished({ db }: Context) {
  await db.tx(async (tx) => {
    if (!(await deleteSetting(tx, 'demo', 'started'))) return
    const idsOf = async (rows: Sql) => (await tx.rows<{ id: string }>(rows)).map(({ id }) => id)
    const people = await idsOf(sql`select id from users where email like ${`%@${content.demoDomain}`}`)
    const workspaces = await idsOf(sql`
      select distinct workspace_id as id from memberships where user_id = any(${people})`)
    const agents = await idsOf(sql`select user_id as id from inside_agents where workspace_id = any(${workspaces})`)
    await deleteWorkspaces(tx, workspaces)
    await deleteUsers(tx, [...people, ...agents])
  })
}

/** A clock that starts six weeks ago. `reach(part)` moves it to that part of the span; each `now()` adds 7 minutes. */
function pastClock(clock: Clock) {
  const now = clock.now().getTime()
  const span = days(42)
  let at = now - span
  const past: Clock = {
    now: () => {
      at = Math.min(now, at + 7 * 60_000)
      return new Date(at)
    },
    after: (ms, then) => clock.after(ms, then),
  }
  const reach = (part: number) => {
    at = Math.max(at, now - span + part * span)
  }
  return { past, reach }
}

async function fill(ctx: Context, reach: (part: number) => void) {
  const members = await people(ctx)
  const { ada } = members
  const teamIds = await teams(ctx, members)
  const labelIds = new Map<string, string>()
  for (const [name, color] of Object.entries(content.labels)) {
    labelIds.set(name, (await labels.create(ctx, ada, { name, color })).id)
  }
  const projectIds = new Map<string, string>()
  const milestoneIds = new Map<string, string>()
  for (const [key, { health, lead, teams: keys, milestones: names, ...project }] of Object.entries(content.projects)) {
    const { id } = await createProject(ctx, members[lead], {
      ...project,
      health_status: health,
      lead_id: members[lead].id,
      member_ids: Object.values(members).map((member) => member.id),
      team_ids: keys.map((team) => teamIds.get(team) as string),
    })
    projectIds.set(key, id)
    for (const name of names) milestoneIds.set(name, (await createMilestone(ctx, ada, { project_id: id, name })).id)
  }

  const issueIds = new Map<string, string>()
  const inOrder = [...content.issues].sort((a, b) => depth(a) - depth(b))
  for (const [index, issue] of inOrder.entries()) {
    reach(index / inOrder.length)
    const author = members[issue.by]
    const { id } = await createIssue(ctx, author, {
      title: issue.title,
      team_id: teamIds.get(issue.team) as string,
      description: issue.description ?? '',
      type: issue.type ?? 'task',
      status: issue.status ?? 'backlog',
      priority: issue.priority ?? 'no_priority',
      assignee_id: issue.to ? members[issue.to].id : null,
      label_ids: (issue.labels ?? []).map((label) => labelIds.get(label) as string),
      project_id: projectIds.get(issue.project ?? '') ?? null,
      milestone_id: milestoneIds.get(issue.milestone ?? '') ?? null,
      parent_id: issueIds.get(issue.parent ?? '') ?? null,
      blocks_ids: (issue.blocks ?? []).flatMap((title) => issueIds.get(title) ?? []),
      time_estimate: issue.estimate ?? null,
    })
    issueIds.set(issue.title, id)
    let parent_comment_id: string | null = null
    for (const [person, text] of issue.thread ?? []) {
      const comment = await createComment(ctx, members[person], {
        target_type: 'issue',
        target_id: id,
        text,
        parent_comment_id,
      })
      parent_comment_id ??= comment.id
    }
  }
}

/** Issues are created after the parents and blocked issues that they refer to. */
const depth = ({ parent, blocks }: content.DemoIssue) => (blocks ? 2 : parent ? 1 : 0)

async function people(ctx: Context): Promise<Record<content.PersonKey, Member>> {
  const passwordHash = await hashPassword(content.demoPassword)
  const members = new Map<string, Member>()
  let workspaceId = ''
  for (const [key, { name, role }] of Object.entries(content.people)) {
    const email = `${key}@${content.demoDomain}`
    const { user } = await createAccount(ctx, { email, name, passwordHash })
    const login = { tokenHash: Buffer.alloc(0), scopes: null, loginMethod: null, recent: false }
    const person = { kind: 'person' as const, id: user.id, name, email, role, ...login }
    if (workspaceId) await transact(ctx, null, (unit) => addMember(unit, workspaceId, user.id, role))
    else workspaceId = await createCompany(ctx, { ...person, workspaceId: null })
    members.set(key, { ...person, workspaceId })
  }
  await updateWorkspace(ctx, members.get('ada') as Member, { guidance: content.workspace.guidance })
  return Object.fromEntries(members) as Record<content.PersonKey, Member>
}

const createCompany = async (ctx: Context, founder: Person) =>
  (await createWorkspace(ctx, founder, content.workspace.name, createBuiltInAgent)).id

async function teams(ctx: Context, members: Record<content.PersonKey, Member>) {
  const ids = new Map<string, string>()
  for (const [key, team] of Object.entries(content.teams)) {
    const { id } = await createTeam(ctx, members.ada, { name: team.name, key })
    const repositories = team.repositories.map((repository) => ({ repository }))
    await updateTeam(ctx, members.ada, id, { guidance: team.guidance, repositories })
    for (const person of team.members) await addTeamMember(ctx, members.ada, id, members[person].id)
    ids.set(key, id)
  }
  return ids
}
