import type { Issue, Project } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { stateIdOf, uuidOf, uuidOrNull } from './ids.ts'
import { branchName, camelCased, priorities, projectStateOf, readable, slug, states } from './names.ts'

// The bodies of deliveries to apps that were written for Linear. They are made when the event is recorded, from rows of
// that transaction, so a later change does not alter them.

/** An event as we record it. */
export interface Envelope {
  type: string
  action: string
  actor: { id: string; type: string; name: string } | null
  created_at: string
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has its own data
  data: any
  updated_from?: Record<string, unknown>
  url: string
  workspace_id: string
}

/** The installation that receives the event. */
export interface Recipient {
  installationId: string
  endpointId: string
  envelope: Envelope
}

interface Installed {
  id: string
  appUserId: string
  clientId: string
  allTeams: boolean
  teamIds: string[]
}

/** The bodies, in the order of the recipients. Each attempt adds its time. */
export async function linearBodies(db: Queryable, recipients: Recipient[]): Promise<string[]> {
  const installations = await readInstallations(db, recipients)
  const items = await Items.read(db, recipients)
  return recipients.map(({ installationId, endpointId, envelope }) => {
    const installed = installations.get(installationId)
    const { type, action, created_at: createdAt, workspace_id } = envelope
    return JSON.stringify({
      type,
      action,
      createdAt,
      organizationId: uuidOf(workspace_id),
      webhookId: uuidOf(endpointId),
      oauthClientId: installed?.clientId ?? null,
      appUserId: installed ? uuidOf(installed.appUserId) : null,
      ...(installed ? contentOf(envelope, items, installed) : {}),
    })
  })
}

async function readInstallations(db: Queryable, recipients: Recipient[]): Promise<Map<string, Installed>> {
  const rows = await db.rows<Installed>(sql`
    select i.id, i.app_user_id as "appUserId", a.client_id as "clientId", i.all_teams as "allTeams",
      i.team_ids as "teamIds"
    from installations i join agent_apps a on a.id = i.app_id
    where i.id = any(${recipients.map(({ installationId }) => installationId)})`)
  return new Map(rows.map((row) => [row.id, row]))
}

function contentOf(envelope: Envelope, items: Items, installed: Installed): object {
  const { type, action, data, url } = envelope
  if (type === 'AgentSessionEvent') {
    const agentSession = sessionOf(envelope, items, installed)
    return {
      agentSession,
      ...(action === 'created' ? contextOf(data, items, installed) : promptOf(data, items, installed)),
    }
  }
  if (type === 'PermissionChange') {
    return {
      canAccessAllPublicTeams: data.all_teams,
      addedTeamIds: data.added_team_ids.map(uuidOf),
      removedTeamIds: data.removed_team_ids.map(uuidOf),
    }
  }
  const itemOf = { Issue: issueData, Comment: commentData, Project: projectData }[type]
  if (!itemOf) return {}
  return {
    actor: actorOf(envelope, items, installed),
    data: itemOf(data, url, items, installed),
    ...(envelope.updated_from ? { updatedFrom: updatedFrom(type, envelope.updated_from) } : {}),
    url,
  }
}

interface UserRow {
  id: string
  name: string
  email: string | null
  isMember: boolean
  teamIds: string[]
  appId: string | null
}
interface IssueRow {
  id: string
  description: string
  priority: Issue['priority']
  assigneeId: string | null
  project: { id: string; title: string; personal: boolean; teamIds: string[] } | null
  labels: { id: string; name: string; color: string | null }[]
}
interface NamedRow {
  id: string
  name: string
  key: string
  color: string | null
}

/** The rows that the events refer to, each kind read with one statement. */
class Items {
  readonly #users: Map<string, UserRow>
  readonly #issues: Map<string, IssueRow>
  readonly teams: Map<string, NamedRow>
  readonly labels: Map<string, NamedRow>
  /** The authors of the comments that began sessions. */
  readonly authors: Map<string, string>

  private constructor(
    users: UserRow[],
    issues: IssueRow[],
    teams: NamedRow[],
    labels: NamedRow[],
    authors: Map<string, string>,
  ) {
    this.#users = new Map(users.map((row) => [row.id, row]))
    this.#issues = new Map(issues.map((row) => [row.id, row]))
    this.teams = new Map(teams.map((row) => [row.id, row]))
    this.labels = new Map(labels.map((row) => [row.id, row]))
    this.authors = authors
  }

  static async read(db: Queryable, recipients: Recipient[]): Promise<Items> {
    const envelopes = recipients.map(({ envelope }) => envelope)
    const text = JSON.stringify(envelopes)
    const mentioned = (prefix: string) => [
      ...new Set(text.match(new RegExp(`\\b${prefix}_[0-9a-hjkmnp-tv-z]{26}\\b`, 'g')) ?? []),
    ]
    const issues = await db.rows<IssueRow>(sql`
      select i.id, i.description, i.priority, i.assignee_id as "assigneeId",
        case when p.id is not null then jsonb_build_object('id', p.id, 'title', p.title, 'personal', p.personal,
          'teamIds', array(select team_id from project_teams where project_id = p.id)) end as project,
        coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.name)
          from issue_labels n join labels l on l.id = n.label_id where n.issue_id = i.id), '[]') as labels
      from issues i left join projects p on p.id = i.project_id
      where i.id = any(${[...new Set(envelopes.flatMap(({ data }) => data?.agent_session?.issue?.id ?? (data?.code ? data.id : [])))]})`)
    const comments = await db.rows<{ id: string; author: string | null }>(sql`
      select id, author_id as author from comments
      where id = any(${envelopes.flatMap(({ data }) => data?.agent_session?.comment?.id ?? [])})`)
    const teams = await db.rows<NamedRow>(
      sql`select id, name, key, null as color from teams where id = any(${mentioned('team')})`,
    )
    const labels = await db.rows<NamedRow>(
      sql`select id, name, '' as key, color from labels where id = any(${mentioned('lbl')})`,
    )
    const userIds = [
      ...mentioned('usr'),
      ...issues.flatMap(({ assigneeId }) => assigneeId ?? []),
      ...comments.flatMap(({ author }) => author ?? []),
    ]
    const users = await db.rows<UserRow>(sql`
      select u.id, u.display_name as name, u.email, m.user_id is not null as "isMember", n.app_id as "appId",
        array(select t.team_id from team_members t where t.user_id = u.id) as "teamIds"
      from users u
      left join memberships m on m.user_id = u.id and m.workspace_id = ${envelopes[0]?.workspace_id ?? ''}
      left join installations n on n.app_user_id = u.id
      where u.id = any(${userIds})`)
    const authors = comments.flatMap(({ id, author }): [string, string][] => (author ? [[id, author]] : []))
    return new Items(users, issues, teams, labels, new Map(authors))
  }

  issue(id: string) {
    return this.#issues.get(id)
  }

  /** The e-mail address only of people whom the members list shows to the app. */
  user(id: string | null, { allTeams, teamIds }: Installed, url: string) {
    const user = id === null ? undefined : this.#users.get(id)
    if (!user) return null
    const isShown = user.isMember && (allTeams || user.teamIds.some((team) => teamIds.includes(team)))
    return {
      id: uuidOf(user.id),
      name: user.name,
      email: isShown ? user.email : null,
      url: `${originOf(url)}/settings/members#${slug(user.name)}`,
      avatarUrl: user.appId && `${originOf(url)}/api/v1/agent-apps/${user.appId}/icon`,
    }
  }

  team(id: string | null) {
    const team = id === null ? undefined : this.teams.get(id)
    return team ? { id: uuidOf(team.id), key: team.key, name: team.name } : null
  }
}

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : '')

function sessionOf({ data, url, workspace_id }: Envelope, items: Items, installed: Installed) {
  const session = data.agent_session
  return {
    id: uuidOf(session.id),
    status: session.state,
    type: 'commentThread',
    issueId: session.issue ? uuidOf(session.issue.id) : null,
    issue: session.issue && sessionIssue(session.issue, items, installed),
    commentId: session.comment ? uuidOf(session.comment.id) : null,
    comment: session.comment && {
      id: uuidOf(session.comment.id),
      body: readable(session.comment.body),
      userId: uuidOrNull(items.authors.get(session.comment.id) ?? null),
    },
    creatorId: uuidOf(session.creator.id),
    creator: items.user(session.creator.id, installed, url),
    appUserId: uuidOf(session.app_user_id),
    organizationId: uuidOf(workspace_id),
    url,
    createdAt: session.created_at,
    updatedAt: session.updated_at,
    endedAt: session.ended_at,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the issue of a session as recorded
function sessionIssue(issue: any, items: Items, installed: Installed) {
  const row = items.issue(issue.id)
  const { number, label } = priorities[row?.priority ?? 'no_priority']
  return {
    id: uuidOf(issue.id),
    identifier: issue.identifier,
    title: issue.title,
    description: readable(row?.description ?? ''),
    url: issue.url,
    teamId: issue.team ? uuidOf(issue.team.id) : null,
    team: issue.team && { ...issue.team, id: uuidOf(issue.team.id) },
    priority: number,
    priorityLabel: label,
    labels: (row?.labels ?? []).map(({ id, ...rest }) => ({ id: uuidOf(id), ...rest })),
    assignee: items.user(row?.assigneeId ?? null, installed, issue.url),
    project: projectName(row, installed),
  }
}

/** Only a project that the app can see. */
function projectName(row: IssueRow | undefined, { allTeams, teamIds }: Installed) {
  const { project } = row ?? {}
  if (!project || project.personal) return null
  return allTeams || project.teamIds.some((id) => teamIds.includes(id))
    ? { id: uuidOf(project.id), name: project.title }
    : null
}

// biome-ignore lint/suspicious/noExplicitAny: the data of the event
function contextOf(data: any, items: Items, installed: Installed) {
  return {
    promptContext: data.prompt_context,
    // biome-ignore lint/suspicious/noExplicitAny: as above
    previousComments: data.previous_comments.map((comment: any) => ({
      id: uuidOf(comment.id),
      body: readable(comment.body),
      userId: uuidOrNull(comment.author?.id ?? null),
      user: items.user(comment.author?.id ?? null, installed, data.agent_session.issue?.url ?? ''),
      createdAt: comment.created_at,
    })),
    // biome-ignore lint/suspicious/noExplicitAny: as above
    guidance: data.guidance.map(({ body, origin, team_id }: any) => ({
      body,
      origin: origin === 'team' ? { type: 'Team', team: items.team(team_id) } : { type: 'Organization' },
    })),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the data of the event
function promptOf(data: any, items: Items, installed: Installed) {
  const { agent_activity: activity, agent_session: session } = data
  const { selected } = activity.signal_metadata ?? {}
  // Agents read the choice from the text, where Linear puts the values.
  const body = Array.isArray(selected) ? selected.join(', ') : readable(activity.content.body ?? '')
  return {
    agentActivity: {
      id: uuidOf(activity.id),
      agentSessionId: uuidOf(session.id),
      content: { type: activity.type, body },
      signal: activity.signal,
      signalMetadata: camelCased(activity.signal_metadata),
      userId: uuidOf(activity.author.id),
      user: items.user(activity.author.id, installed, session.issue?.url ?? ''),
      createdAt: activity.created_at,
      updatedAt: activity.created_at,
    },
  }
}

function actorOf({ actor, url }: Envelope, items: Items, installed: Installed) {
  if (!actor?.id) return null
  const user = items.user(actor.id, installed, url)
  return {
    ...user,
    id: uuidOf(actor.id),
    name: actor.name,
    type: actor.type === 'application' ? 'oauthClient' : 'user',
  }
}

const dateOf = (time: unknown) => (typeof time === 'string' ? time.slice(0, 10) : null)
const uuidsOf = (ids: unknown) => (Array.isArray(ids) ? ids.map(uuidOf) : [])

function issueData(issue: Issue, url: string, items: Items, installed: Installed) {
  const state = states[issue.status]
  const { number, label } = priorities[issue.priority]
  return {
    id: uuidOf(issue.id),
    identifier: issue.code,
    number: Number(issue.code.slice(issue.code.lastIndexOf('-') + 1)),
    title: issue.title,
    description: readable(issue.description),
    url,
    branchName: branchName(issue.code, issue.title),
    priority: number,
    priorityLabel: label,
    stateId: stateIdOf(issue.status),
    state: { id: stateIdOf(issue.status), ...state },
    teamId: uuidOrNull(issue.team_id),
    team: items.team(issue.team_id),
    assigneeId: uuidOrNull(issue.assignee_id),
    assignee: items.user(issue.assignee_id, installed, url),
    creatorId: uuidOrNull(issue.reporter_id),
    creator: items.user(issue.reporter_id, installed, url),
    delegateId: uuidOrNull(issue.delegate_id),
    delegate: items.user(issue.delegate_id, installed, url),
    parentId: uuidOrNull(issue.parent_id),
    projectId: uuidOrNull(issue.project_id),
    project: projectName(items.issue(issue.id), installed),
    labelIds: uuidsOf(issue.label_ids),
    labels: issue.label_ids.flatMap((id) => {
      const label = items.labels.get(id)
      return label ? [{ id: uuidOf(id), name: label.name, color: label.color }] : []
    }),
    estimate: issue.time_estimate,
    dueDate: dateOf(issue.due_date),
    completedAt: issue.completed_at,
    createdAt: issue.created_at,
    updatedAt: issue.updated_at,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the data of the event
function commentData(comment: any, url: string, items: Items, installed: Installed) {
  const isOnIssue = comment.target_type === 'issue'
  return {
    id: uuidOf(comment.id),
    body: readable(comment.text),
    issueId: isOnIssue ? uuidOf(comment.target_id) : null,
    projectId: isOnIssue ? null : uuidOf(comment.target_id),
    parentId: uuidOrNull(comment.parent_comment_id),
    userId: uuidOrNull(comment.author_id),
    user: items.user(comment.author_id, installed, url),
    url,
    editedAt: comment.edited_at,
    resolvedAt: comment.is_resolved ? comment.updated_at : null,
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
  }
}

function projectData(project: Project, url: string, items: Items, installed: Installed) {
  const { number, label } = priorities[project.priority]
  return {
    id: uuidOf(project.id),
    name: project.title,
    description: readable(project.description),
    url,
    state: projectStateOf(project.status),
    priority: number,
    priorityLabel: label,
    leadId: uuidOrNull(project.lead_id),
    lead: items.user(project.lead_id, installed, url),
    creatorId: uuidOrNull(project.owner_id),
    memberIds: uuidsOf(project.member_ids),
    teamIds: uuidsOf(project.team_ids),
    labelIds: uuidsOf(project.label_ids),
    progress: (project.progress ?? 0) / 100,
    startDate: dateOf(project.start_date),
    targetDate: dateOf(project.target_date),
    completedAt: project.completed_at,
    createdAt: project.created_at,
    updatedAt: project.updated_at,
  }
}

type Renamed = [name: string, value: (before: never) => unknown]
const asIs = (value: unknown) => value

/** Linear's names of the fields that changed, with their previous values. Fields that Linear lacks are left out. */
const renamed: Record<string, Renamed> = {
  title: ['title', asIs],
  description: ['description', readable],
  status: ['stateId', stateIdOf],
  priority: ['priority', (priority: Issue['priority']) => priorities[priority].number],
  team_id: ['teamId', uuidOrNull],
  project_id: ['projectId', uuidOrNull],
  parent_id: ['parentId', uuidOrNull],
  assignee_id: ['assigneeId', uuidOrNull],
  delegate_id: ['delegateId', uuidOrNull],
  lead_id: ['leadId', uuidOrNull],
  owner_id: ['creatorId', uuidOrNull],
  label_ids: ['labelIds', uuidsOf],
  team_ids: ['teamIds', uuidsOf],
  member_ids: ['memberIds', uuidsOf],
  time_estimate: ['estimate', asIs],
  due_date: ['dueDate', dateOf],
  start_date: ['startDate', dateOf],
  target_date: ['targetDate', dateOf],
  completed_at: ['completedAt', asIs],
  updated_at: ['updatedAt', asIs],
}

const renamedOfProject: Record<string, Renamed> = {
  ...renamed,
  title: ['name', asIs],
  status: ['state', projectStateOf],
}

function updatedFrom(type: string, before: Record<string, unknown>) {
  const names = type === 'Project' ? renamedOfProject : renamed
  return Object.fromEntries(
    Object.entries(before).flatMap(([field, value]) => {
      const [name, convert] = names[field] ?? []
      return name && convert ? [[name, convert(value as never)]] : []
    }),
  )
}
