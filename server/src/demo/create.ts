import type { IssueStatus } from '@baton/protocol'
import { createBuiltInAgent } from '../agents/inside-agents.ts'
import { createComment } from '../comments/comments.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { deleteBatch, type Position, workspaceTables } from '../db/purge.ts'
import { deleteSetting, dropSetting, insertSetting, updateSetting } from '../db/settings.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Member, Person } from '../http/caller.ts'
import { createIssue } from '../issues/create.ts'
import { updateIssue } from '../issues/update.ts'
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
import { agentSetting, type Company, planAgents } from './create-agents.ts'
import { planDecisions } from './create-decisions.ts'
import { PastClock } from './past-clock.ts'
import { showsSetting } from './shows.ts'

/**
 * Fills an empty database with the demo workspace, through the same verbs as the API, dated over the last six weeks.
 * Leftovers of an interrupted run are removed first.
 */
export async function createDemo(ctx: Context): Promise<boolean> {
  await removeUnfinished(ctx)
  if (await ctx.db.row(sql`select 1 from users limit 1`)) return false
  if (!(await insertSetting(ctx.db, 'demo', 'started'))) return false
  const past = new PastClock(ctx.clock)
  await fill({ ...ctx, config: { ...ctx.config, signup: 'open', mail: null }, clock: past }, past)
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
    const agents = await idsOf(sql`
      select user_id as id from inside_agents where workspace_id = any(${workspaces})
      union select app_user_id from installations where workspace_id = any(${workspaces})`)
    for (const name of [agentSetting, showsSetting]) await dropSetting(tx, name)
    for (const id of workspaces) await deleteRows(tx, id)
    await deleteWorkspaces(tx, workspaces)
    await deleteUsers(tx, [...people, ...agents])
  })
}

/** Deliveries and attempts do not refer to their workspace, so they stay when it is deleted. */
async function deleteRows(tx: Tx, workspaceId: string) {
  for (const table of await workspaceTables(tx)) {
    for (let from: Position = 0; from !== null; ) from = (await deleteBatch(tx, table, workspaceId, from)).next
  }
}

async function fill(ctx: Context, past: PastClock) {
  const company = await planCompany(ctx, past)
  const { scout } = await planAgents(ctx, past, company)
  planDecisions(ctx, past, company, scout)
  await past.run()
}

/** Creates people, teams and projects, and plans the issues, evenly over six weeks, and their way to their status. */
export async function planCompany(ctx: Context, past: PastClock): Promise<Company> {
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
  const create = async (issue: content.DemoIssue) => {
    const author = members[issue.by]
    const { id } = await createIssue(ctx, author, {
      title: issue.title,
      team_id: teamIds.get(issue.team) as string,
      description: issue.description ?? '',
      type: issue.type ?? 'task',
      status: wayTo(issue.status ?? 'backlog')[0],
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
  const moveTo = (issue: content.DemoIssue, status: IssueStatus) =>
    updateIssue(ctx, members[issue.to ?? issue.by], issueIds.get(issue.title) as string, { status })

  const inOrder = [...content.issues].sort((a, b) => depth(a) - depth(b))
  for (const [index, issue] of inOrder.entries()) {
    // The last one yesterday, before the sessions that the viewer finds at work.
    const part = (0.98 * index) / inOrder.length
    past.plan(part, () => create(issue))
    const [, ...way] = wayTo(issue.status ?? 'backlog')
    // In equal steps over the rest of the time to now.
    for (const [step, status] of way.entries()) {
      past.plan(part + ((step + 1) * (1 - part)) / (way.length + 1), () => moveTo(issue, status))
    }
  }
  return { members, teamIds, issueIds }
}

/** The statuses that an issue had, the first at its creation. */
function wayTo(status: IssueStatus): [IssueStatus, ...IssueStatus[]] {
  if (status === 'backlog' || status === 'todo') return [status]
  return status === 'in_progress' ? ['todo', 'in_progress'] : ['todo', 'in_progress', status]
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
