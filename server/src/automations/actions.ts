import {
  type ActionResult,
  type Automation,
  type AutomationAction,
  type Issue,
  type IssueChange,
  type IssueTemplate,
  limits,
  type NewIssue,
  type RunReason,
} from '@baton/protocol'
import { days, plus } from '../clock.ts'
import { createComment } from '../comments/comments.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { notify } from '../inbox/notify.ts'
import { findAgents } from '../installations/agents.ts'
import { unavailableReason } from '../installations/availability.ts'
import { createIssue } from '../issues/create.ts'
import { readIssue } from '../issues/read.ts'
import { updateIssue } from '../issues/update.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { dayIn } from './cron.ts'
import { fill } from './template.ts'

/** The run does nothing, for this reason. */
export class Skipped extends Error {
  readonly reason: RunReason
  constructor(reason: RunReason) {
    super(reason)
    this.reason = reason
  }
}

/** What actions work with. Verbs run in the open transaction `tx`, through `ctx`. */
export interface Scene {
  ctx: Context
  tx: Tx
  now: Date
  owner: Member
  automation: Pick<Automation, 'id' | 'team_id' | 'trigger' | 'actions'>
  /** The issue that each action created last, by index. */
  lastIssues: Record<string, string>
  /** The issue that actions change. `create_issue` replaces it. */
  issueId: string | null
  /** The agent of the session that caused the run. */
  agentId: string | null
}

type Of<Type extends AutomationAction['type']> = Extract<AutomationAction, { type: Type }>
type Did = { subjectId: string | null; message?: string }

/** Does one action as the owner. */
export async function act(scene: Scene, action: AutomationAction, index: number): Promise<ActionResult> {
  const { subjectId, message } = await perform(scene, action, index)
  return { type: action.type, ok: true, subject_id: subjectId, message: message ?? null }
}

function perform(scene: Scene, action: AutomationAction, index: number): Promise<Did> {
  switch (action.type) {
    case 'create_issue':
      return create(scene, action, index)
    case 'set_fields':
      return setFields(scene, action)
    case 'delegate':
      return delegate(scene, action)
    case 'ask_agent':
      return askAgent(scene, action)
    case 'comment':
      return comment(scene, action.text)
    case 'notify':
      return notifyPeople(scene, action)
  }
}

const unitOf = ({ ctx, tx, now, owner }: Scene): UnitOfWork<Member> => ({
  tx,
  now,
  caller: owner,
  config: ctx.config,
  hooks: ctx.hooks,
  chain: ctx.chain,
})

/** Locks the agents before any issue, as changes of coverage do. */
export const lockAgents = (scene: Scene, agentIds: readonly string[]) =>
  findAgents(unitOf(scene), agentIds, sql`for share of i`)

const currentIssue = ({ ctx, owner, issueId }: Scene): Promise<Issue> => readIssue(ctx, owner, issueId as string)

async function create(scene: Scene, action: Of<'create_issue'>, index: number): Promise<Did> {
  const { ctx, owner, automation, lastIssues } = scene
  if (action.skip_if_open && (await isOpen(scene, lastIssues[index]))) throw new Skipped('previous_open')
  const template = action.template_id ? await readTemplate(scene, action.template_id) : undefined
  const values = await valuesOf(scene)
  const title = cut(fill(action.title ?? template?.title ?? '', values), limits.title)
  if (!title.trim()) throw invalid({ title: 'is empty: neither the action nor its template has one' })
  const { status, assignee_id, project_id, delegate_id } = action
  const given = { status, assignee_id, project_id, delegate_id }
  const body: NewIssue = {
    title,
    description: cut(fill(action.description ?? template?.description ?? '', values), limits.description),
    team_id: automation.team_id,
    priority: action.priority ?? template?.priority ?? 'no_priority',
    type: action.issue_type ?? template?.type ?? 'task',
    label_ids: action.label_ids ?? template?.label_ids ?? [],
    ...defined(given),
    ...(await datesOf(scene, action)),
  }
  const issue = await createIssue(ctx, owner, body)
  scene.issueId = issue.id
  return { subjectId: issue.id, message: issue.title }
}

const isOpen = async ({ tx }: Scene, issueId: string | undefined) =>
  issueId !== undefined &&
  (await tx.row(sql`select 1 from issues where id = ${issueId} and status <> 'done'`)) !== undefined

/** automation.create-issue-template: one that is gone fails the run. Deleted labels are left out. */
async function readTemplate({ tx, automation, owner }: Scene, id: string) {
  const template = await tx.row<Pick<IssueTemplate, 'title' | 'description' | 'priority' | 'type' | 'label_ids'>>(sql`
    select t.title, t.description, t.priority, t.type,
      array(select l.id from labels l where l.workspace_id = t.workspace_id
        and (l.id = any(t.label_ids) or l.merged_label_ids && t.label_ids) order by l.id) as label_ids
    from issue_templates t
    where t.id = ${id} and t.workspace_id = ${owner.workspaceId}
      and (t.team_id is null or t.team_id = ${automation.team_id})`)
  if (!template) throw invalid({ template_id: 'is not a template of this team or workspace' })
  return template
}

async function setFields(scene: Scene, action: Of<'set_fields'>): Promise<Did> {
  const { ctx, tx, owner, issueId } = scene
  // Labels that are added meanwhile would be lost.
  await tx.row(sql`select 1 from issues where id = ${issueId} for no key update`)
  const issue = await currentIssue(scene)
  const { status, priority, assignee_id, project_id, add_label_ids = [], remove_label_ids = [] } = action
  const labels = [...new Set([...issue.label_ids, ...add_label_ids])].filter((id) => !remove_label_ids.includes(id))
  const given = { status, priority, type: action.issue_type, assignee_id, project_id }
  const change: IssueChange = {
    ...defined(given),
    ...(add_label_ids.length + remove_label_ids.length > 0 && { label_ids: labels }),
    ...(await datesOf(scene, action)),
  }
  const after = await updateIssue(ctx, owner, issue.id, change)
  return { subjectId: issue.id, ...(after.updated_at === issue.updated_at && { message: 'unchanged' }) }
}

async function delegate(scene: Scene, { agent_id, assignee_id }: Of<'delegate'>): Promise<Did> {
  const issue = await currentIssue(scene)
  refuseOwnWork(issue, agent_id)
  if (issue.delegate_id) return { subjectId: issue.id, message: 'already_delegated' }
  await updateIssue(scene.ctx, scene.owner, issue.id, { delegate_id: agent_id, ...(assignee_id && { assignee_id }) })
  return { subjectId: issue.id }
}

/** automation.own-work */
function refuseOwnWork({ reporter_id }: Issue, agentId: string) {
  if (reporter_id === agentId) throw new Skipped('own_work')
}

async function askAgent(scene: Scene, { agent_id, text }: Of<'ask_agent'>): Promise<Did> {
  const { owner, automation } = scene
  const issue = await currentIssue(scene)
  refuseOwnWork(issue, agent_id)
  const [agent] = await findAgents(unitOf(scene), [agent_id])
  // A mention of an agent that is not available would be a comment without a session.
  const place = { personal: false, teamIds: [automation.team_id] }
  const reason = unavailableReason(agent?.access ?? null, place, owner.id, 'app:mentionable')
  if (reason) throw new ApiError('DELEGATE_UNAVAILABLE', { reason })
  const name = await nameOf(scene, agent_id)
  return comment(scene, text, `@[${name}](${agent_id}) `)
}

async function comment(scene: Scene, text: string, mention = ''): Promise<Did> {
  const { ctx, owner, issueId } = scene
  const filled = cut(mention + fill(text, await valuesOf(scene)), limits.comment)
  const { id } = await createComment(ctx, owner, {
    target_type: 'issue',
    target_id: issueId as string,
    text: filled,
  })
  return { subjectId: id }
}

async function notifyPeople(scene: Scene, { user_ids, who }: Of<'notify'>): Promise<Did> {
  const { tx, automation, issueId } = scene
  const wanted = user_ids ?? (await peopleOf(scene, who as 'assignee' | 'reporter' | 'team'))
  const people = await tx.rows<{ id: string }>(sql`
    select user_id as id from memberships
    where workspace_id = ${scene.owner.workspaceId} and user_id = any(${wanted})`)
  const subject = issueId ? { issueId } : { automationId: automation.id }
  await notify(
    unitOf(scene),
    people.map(({ id }) => ({ kind: 'automation_notice' as const, userId: id, ofActorToo: true, ...subject })),
  )
  return { subjectId: issueId, message: people.length === 1 ? '1 person' : `${people.length} people` }
}

async function peopleOf(scene: Scene, who: 'assignee' | 'reporter' | 'team'): Promise<string[]> {
  if (who === 'team') {
    const members = await scene.tx.rows<{ id: string }>(sql`
      select user_id as id from team_members where team_id = ${scene.automation.team_id}`)
    return members.map(({ id }) => id)
  }
  const issue = await currentIssue(scene)
  const id = who === 'assignee' ? issue.assignee_id : issue.reporter_id
  return id ? [id] : []
}

/** automation.create-issue-cycle-and-due */
async function datesOf(scene: Scene, action: Of<'create_issue'> | Of<'set_fields'>) {
  const { tx, now, automation } = scene
  const change: Pick<IssueChange, 'cycle_id' | 'due_date'> = {}
  if (action.current_cycle) {
    const cycle = await tx.row<{ id: string }>(sql`
      select id from cycles where team_id = ${automation.team_id} and starts_at <= ${now} and ends_at > ${now}
      order by starts_at desc, id limit 1`)
    change.cycle_id = cycle?.id ?? null
  }
  if (action.due_in_days === null) change.due_date = null
  else if (action.due_in_days !== undefined) {
    const today = new Date(`${dayOf(scene)}T00:00:00.000Z`)
    change.due_date = plus(today, days(action.due_in_days)).toISOString()
  }
  return change
}

const dayOf = ({ automation: { trigger }, now }: Scene) =>
  dayIn(trigger.type === 'schedule' ? trigger.time_zone : 'UTC', now)

async function valuesOf(scene: Scene) {
  const issue = scene.issueId ? await currentIssue(scene) : null
  const agentId = scene.agentId ?? issue?.delegate_id
  return { day: dayOf(scene), issue, agentName: agentId ? await nameOf(scene, agentId) : '' }
}

const nameOf = async ({ tx }: Scene, userId: string) =>
  found(await tx.row<{ name: string }>(sql`select display_name as name from users where id = ${userId}`)).name

const defined = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>
  }

const cut = (text: string, length: number) => {
  const characters = [...text]
  return characters.length > length ? characters.slice(0, length).join('') : text
}
