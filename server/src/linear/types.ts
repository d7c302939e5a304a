import { createHash } from 'node:crypto'
import type {
  AgentSession,
  Comment,
  ExternalUrl,
  Issue,
  IssueStatus,
  Label,
  Project,
  Team,
  Workspace,
} from '@baton/protocol'
import { issueStatuses } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import { dashed, stateIdOf, uuidOf, uuidOrNull } from '../linear-shape/ids.ts'
import { branchName, camelCased, priorities, projectStateOf, readable, slug, states } from '../linear-shape/names.ts'
import { readWorkspace } from '../workspaces/workspaces.ts'
import { connectionOf, inMemory, nested, pageOf, pageSize, pagingArgs, preparePaging } from './connections.ts'
import { filterSql } from './filters.ts'
import type { PlacedActivity, User } from './loaders.ts'
import {
  activitySource,
  commentSource,
  issueSource,
  labelSource,
  projectSource,
  sessionSource,
  teamSource,
  userSource,
} from './sources.ts'
import { type Args, type Field, type ObjectType, object, type Run, reference, value } from './type.ts'

// The objects of Linear's API that we have, with the fields that its clients read. Fields that a client's constructor
// reads without a check are never null (linear.constructor-fields).

const constant = (content: unknown) => value(() => content)
/** The id of an item without a row of ours. */
const derivedId = (...parts: string[]) => dashed(createHash('md5').update(parts.join(' ')).digest('hex'))

/** When the service began to have states. */
const longAgo = '2026-01-01T00:00:00.000Z'

const dated = <Item extends { created_at: string; updated_at: string }>() => ({
  createdAt: value((item: Item) => item.created_at),
  updatedAt: value((item: Item) => item.updated_at),
  archivedAt: constant(null),
})

const identified = { id: value(({ id }: { id: string }) => uuidOf(id)) }

const organization: Field = {
  type: () => organizationType,
  statements: 1,
  resolve: async (parents, _args, { ctx, caller }) => {
    const workspace = await readWorkspace(ctx.db, caller.workspaceId)
    return parents.map(() => workspace)
  },
}

export const organizationType: ObjectType = {
  name: 'Organization',
  fields: {
    ...identified,
    ...dated(),
    name: value(({ name }: Workspace) => name),
    urlKey: value(({ name }: Workspace) => slug(name) || 'workspace'),
    logoUrl: constant(null),
    projectStatuses: object(
      () => unknownType,
      () => [],
    ),
    previousUrlKeys: constant([]),
    allowedAuthServices: constant([]),
    roadmapEnabled: constant(false),
    samlEnabled: constant(false),
    scimEnabled: constant(false),
    teams: nested(
      () => teamConnection,
      () => teamSource,
      sql`true`,
      ({ id }: Workspace) => id,
    ),
    users: nested(
      () => userConnection,
      () => userSource,
      sql`true`,
      ({ id }: Workspace) => id,
    ),
    labels: nested(
      () => labelConnection,
      () => labelSource,
      sql`true`,
      ({ id }: Workspace) => id,
    ),
  },
}

/** For lists that are always empty. */
const unknownType: ObjectType = { name: 'Unknown', fields: {} }

export const userType: ObjectType = {
  name: 'User',
  fields: {
    ...identified,
    name: value(({ name }: User) => name),
    displayName: value(({ name }: User) => name),
    email: value(({ email }: User) => email),
    avatarUrl: value(({ avatarUrl }: User) => avatarUrl),
    url: {
      resolve: (parents: User[], _args, { ctx }) => parents.map((user) => profileUrl(ctx.config.appUrl, user.name)),
    } as Field<User>,
    initials: value(({ name }: User) =>
      name
        .split(/\s+/)
        .slice(0, 2)
        .map((word) => word.slice(0, 1).toUpperCase())
        .join(''),
    ),
    active: value(({ isActive }: User) => isActive),
    app: value(({ isAgent }: User) => isAgent),
    supportsAgentSessions: value(({ isAgent }: User) => isAgent),
    isAssignable: value(({ isAgent, isActive }: User) => isActive && !isAgent),
    isMentionable: value(({ isActive }: User) => isActive),
    admin: value(({ role }: User) => role === 'admin' || role === 'owner'),
    owner: value(({ role }: User) => role === 'owner'),
    guest: constant(false),
    isMe: { resolve: (parents: User[], _args, { caller }) => parents.map(({ id }) => id === caller.id) } as Field<User>,
    description: constant(null),
    createdAt: value(({ createdAt }: User) => createdAt),
    updatedAt: value(({ createdAt }: User) => createdAt),
    archivedAt: constant(null),
    organization,
  },
}

/** The list of members has no page for one of them. */
export const profileUrl = (appUrl: string, name: string) => `${appUrl}/settings/members#${slug(name)}`

export const teamType: ObjectType = {
  name: 'Team',
  fields: {
    ...identified,
    ...dated(),
    name: value(({ name }: Team) => name),
    displayName: value(({ name }: Team) => name),
    key: value(({ key }: Team) => key),
    description: constant(null),
    private: constant(false),
    visibility: constant('public'),
    timezone: constant('UTC'),
    cyclesEnabled: constant(true),
    triageEnabled: constant(false),
    organization,
    defaultIssueState: object(
      () => stateType,
      (team: Team) => stateOf('todo', team.id),
    ),
    startWorkflowState: object(
      () => stateType,
      (team: Team) => stateOf('in_progress', team.id),
    ),
    states: stateList(({ id }: Team) => id),
    labels: nested(
      () => labelConnection,
      () => labelSource,
      sql`true`,
      ({ id }: Team) => id,
    ),
    issues: nested(
      () => issueConnection,
      () => issueSource,
      sql`i.team_id = parent.key`,
      ({ id }: Team) => id,
    ),
    projects: nested(
      () => projectConnection,
      () => projectSource,
      sql`exists (select from project_teams where project_id = p.id and team_id = parent.key)`,
      ({ id }: Team) => id,
    ),
    members: nested(
      () => userConnection,
      () => userSource,
      sql`u.id in (select user_id from team_members where team_id = parent.key)`,
      ({ id }: Team) => id,
    ),
  },
}

/** A state of a team; the states of all teams are the same. */
export interface State {
  status: IssueStatus
  teamId: string | null
}

export const stateOf = (status: IssueStatus, teamId: string | null): State => ({ status, teamId })

export const stateType: ObjectType = {
  name: 'WorkflowState',
  fields: {
    id: value(({ status }: State) => stateIdOf(status)),
    name: value(({ status }: State) => states[status].name),
    type: value(({ status }: State) => states[status].type),
    color: value(({ status }: State) => states[status].color),
    position: value(({ status }: State) => issueStatuses.indexOf(status)),
    description: constant(null),
    createdAt: constant(longAgo),
    updatedAt: constant(longAgo),
    archivedAt: constant(null),
    team: reference(
      () => teamType,
      (load) => load.teams,
      ({ teamId }: State) => teamId,
    ),
  },
}

/** The filters of states; that on the team fits every team. */
const stateFilters = {
  id: { kind: 'id', sql: sql`w.id` },
  name: { kind: 'text', sql: sql`w.name` },
  type: { kind: 'text', sql: sql`w.type` },
  team: {
    columns: {
      id: { kind: 'id', sql: sql`w.id`, idOf: () => sql`w.id` },
      key: { kind: 'text', sql: sql`w.id`, idOf: () => sql`w.id` },
      name: { kind: 'text', sql: sql`w.id`, idOf: () => sql`w.id` },
    },
  },
} as const

/** The six states, in their order. Only a filter needs the database. */
export function stateList<Parent>(teamIdOf: (parent: Parent) => string | null): Field<Parent> {
  const source = { filters: () => stateFilters }
  return {
    type: () => stateConnection,
    args: pagingArgs,
    statements: 1,
    prepare: preparePaging(source),
    pageSize,
    resolve: async (parents, args, run) => {
      const { filter } = args.paging as { filter: unknown }
      const kept = filter === undefined ? issueStatuses : await fittingStatuses(run, filter)
      return parents.map((parent) => {
        const items = kept.map((status) => ({ id: stateIdOf(status), ...stateOf(status, teamIdOf(parent)) }))
        return pageOf(items, args)
      })
    },
  }
}

async function fittingStatuses({ ctx }: Run, filter: unknown): Promise<IssueStatus[]> {
  const rows = issueStatuses.map((status) => ({ id: stateIdOf(status), status, ...states[status] }))
  const found = await ctx.db.rows<{ status: IssueStatus }>(sql`
    select w.status from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as w (id text, status text, name text, type text)
    where ${filterSql(filter, stateFilters)}`)
  return issueStatuses.filter((status) => found.some((row) => row.status === status))
}

/** An issue is shared with its team, never with single people. */
const sharedAccessType: ObjectType = {
  name: 'IssueSharedAccess',
  fields: {
    isShared: constant(false),
    sharedWithCount: constant(0),
    sharedWithUsers: object(
      () => userType,
      () => [],
    ),
    viewerHasOnlySharedAccess: constant(false),
    disallowedIssueFields: constant([]),
  },
}

const labelsExpected = 10

const issueFields = {
  ...identified,
  ...dated<Issue>(),
  identifier: value(({ code }: Issue) => code),
  number: value(({ code }: Issue) => Number(code.slice(code.lastIndexOf('-') + 1))),
  title: value(({ title }: Issue) => title),
  description: value(({ description }: Issue) => readable(description)),
  url: value(({ url }: Issue) => url),
  branchName: value(({ code, title }: Issue) => branchName(code, title)),
  priority: value(({ priority }: Issue) => priorities[priority].number),
  priorityLabel: value(({ priority }: Issue) => priorities[priority].label),
  estimate: value(({ time_estimate }: Issue) => time_estimate),
  dueDate: value(({ due_date }: Issue) => due_date?.slice(0, 10) ?? null),
  completedAt: value(({ completed_at }: Issue) => completed_at),
  canceledAt: constant(null),
  trashed: constant(false),
  sortOrder: value(({ sort_order }: Issue) => sort_order),
  boardOrder: value(({ sort_order }: Issue) => sort_order),
  prioritySortOrder: value(({ sort_order }: Issue) => sort_order),
  labelIds: value(({ label_ids }: Issue) => label_ids.map(uuidOf)),
  customerTicketCount: constant(0),
  reactionData: constant([]),
  reactions: object(
    () => unknownType,
    () => [],
  ),
  sharedAccess: object(
    () => sharedAccessType,
    () => ({}),
  ),
  inheritsSharedAccess: constant(false),
  previousIdentifiers: {
    statements: 1,
    resolve: async (parents: Issue[], _args, { ctx }) => {
      const rows = await ctx.db.rows<{ id: string; code: string }>(sql`
        select issue_id as id, code from issue_codes where issue_id = any(${parents.map(({ id }) => id)})`)
      return parents.map((issue) =>
        rows.filter(({ id, code }) => id === issue.id && code !== issue.code).map(({ code }) => code),
      )
    },
  } as Field<Issue>,
  state: object(
    () => stateType,
    ({ status, team_id }: Issue) => stateOf(status, team_id),
  ),
  team: reference(
    () => teamType,
    (load) => load.teams,
    ({ team_id }: Issue) => team_id,
  ),
  assignee: reference(
    () => userType,
    (load) => load.users,
    ({ assignee_id }: Issue) => assignee_id,
  ),
  delegate: reference(
    () => userType,
    (load) => load.users,
    ({ delegate_id }: Issue) => delegate_id,
  ),
  creator: reference(
    () => userType,
    (load) => load.users,
    ({ reporter_id }: Issue) => reporter_id,
  ),
  parent: reference(
    () => issueType,
    (load) => load.issues,
    ({ parent_id }: Issue) => parent_id,
  ),
  project: reference(
    () => projectType,
    (load) => load.projects,
    ({ project_id }: Issue) => project_id,
  ),
  labels: {
    ...nested(
      () => labelConnection,
      () => labelSource,
      sql`exists (select from issue_labels where issue_id = parent.key and label_id = l.id)`,
      ({ id }: Issue) => id,
    ),
    // An issue has few labels, however large the page is.
    pageSize: (args: Args) => Math.min(pageSize(args), labelsExpected),
  },
  comments: nested(
    () => commentConnection,
    () => commentSource,
    sql`c.issue_id = parent.key`,
    ({ id }: Issue) => id,
  ),
  children: nested(
    () => issueConnection,
    () => issueSource,
    sql`i.parent_id = parent.key`,
    ({ id }: Issue) => id,
  ),
  relations: inMemory(
    () => relationConnection,
    (parents: Issue[], run) =>
      relationsOf(parents, run, ({ id, blocks_ids }) => blocks_ids.map((other) => [id, other])),
  ),
  inverseRelations: inMemory(
    () => relationConnection,
    (parents: Issue[], run) =>
      relationsOf(parents, run, ({ id, blocked_by_ids }) => blocked_by_ids.map((other) => [other, id])),
  ),
  attachments: inMemory(() => attachmentConnection, attachmentsOf, 2),
}

export const issueType: ObjectType = { name: 'Issue', fields: issueFields }
export const foundIssueType: ObjectType = {
  name: 'IssueSearchResult',
  fields: { ...issueFields, metadata: constant({}) },
}

/** One issue blocks another. */
interface Relation {
  id: string
  blocker: Issue
  blocked: Issue
}

/** Without relations to issues that the app cannot see. */
async function relationsOf(
  parents: Issue[],
  { load }: Run,
  pairsOf: (issue: Issue) => [blocker: string, blocked: string][],
): Promise<Relation[][]> {
  const pairs = parents.map(pairsOf)
  const issues = await load.issues(pairs.flat(2))
  return pairs.map((ofParent) =>
    ofParent.flatMap(([from, to]) => {
      const [blocker, blocked] = [issues.get(from), issues.get(to)]
      return blocker && blocked ? [{ id: derivedId('blocks', from, to), blocker, blocked }] : []
    }),
  )
}

const relationType: ObjectType = {
  name: 'IssueRelation',
  fields: {
    id: value(({ id }: Relation) => id),
    type: constant('blocks'),
    issue: object(
      () => issueType,
      ({ blocker }: Relation) => blocker,
    ),
    relatedIssue: object(
      () => issueType,
      ({ blocked }: Relation) => blocked,
    ),
    createdAt: value(({ blocker }: Relation) => blocker.created_at),
    updatedAt: value(({ blocker }: Relation) => blocker.updated_at),
    archivedAt: constant(null),
  },
}

/** A link of a session of the app. */
export interface Attachment {
  id: string
  issueId: string
  link: ExternalUrl
  session: AgentSession
}

export const attachmentOf = (session: AgentSession, link: ExternalUrl): Attachment => ({
  id: derivedId('attachment', session.id, link.url),
  issueId: session.issue?.id ?? '',
  link,
  session,
})

const sessionsRead = 100

async function attachmentsOf(parents: Issue[], { ctx, caller, load }: Run): Promise<Attachment[][]> {
  const rows = await ctx.db.rows<{ id: string; key: string }>(sql`
    select x.id, parent.key from unnest(${parents.map(({ id }) => id)}::text[]) as parent (key), lateral (
      select s.id from ${sessionSource.from}
      where s.issue_id = parent.key and ${sessionSource.visibleTo(caller)} and s.external_urls::text <> '[]'
      order by s.id desc limit ${sessionsRead}) x`)
  const sessions = await load.sessions(rows.map(({ id }) => id))
  return parents.map((issue) =>
    rows
      .filter(({ key }) => key === issue.id)
      .flatMap(({ id }) => {
        const session = sessions.get(id)
        return session ? session.external_urls.map((link) => attachmentOf(session, link)) : []
      }),
  )
}

export const attachmentType: ObjectType = {
  name: 'Attachment',
  fields: {
    id: value(({ id }: Attachment) => id),
    title: value(({ link }: Attachment) => link.label),
    subtitle: constant(null),
    url: value(({ link }: Attachment) => link.url),
    metadata: constant({}),
    groupBySource: constant(false),
    createdAt: value(({ session }: Attachment) => session.created_at),
    updatedAt: value(({ session }: Attachment) => session.updated_at),
    archivedAt: constant(null),
    issue: reference(
      () => issueType,
      (load) => load.issues,
      ({ issueId }: Attachment) => issueId,
    ),
  },
}

/** A comment, or an activity of a session shown as one. */
export type LinearComment = Comment

/** The comment that stands for an activity: it has the activity's id, and no row. */
export const commentOfActivity = (activity: PlacedActivity, session: AgentSession | undefined): LinearComment => ({
  id: activity.id,
  text: bodyOf(activity),
  author_id: activity.author.id,
  target_type: 'issue',
  target_id: session?.issue?.id ?? '',
  parent_comment_id: session?.comment?.id ?? null,
  is_resolved: false,
  mentioned_user_ids: [],
  edited_at: null,
  created_at: activity.created_at,
  updated_at: activity.created_at,
  url: session?.comment?.url ?? session?.issue?.url ?? '',
  internal: false,
  automation_id: null,
})

function bodyOf({ content }: PlacedActivity): string {
  if ('body' in content) return content.body
  return [content.action, content.parameter, content.result].filter(Boolean).join('\n')
}

export const commentType: ObjectType = {
  name: 'Comment',
  fields: {
    ...identified,
    ...dated<LinearComment>(),
    body: value(({ text }: LinearComment) => readable(text)),
    url: value(({ url }: LinearComment) => url),
    editedAt: value(({ edited_at }: LinearComment) => edited_at),
    resolvedAt: value(({ is_resolved, updated_at }: LinearComment) => (is_resolved ? updated_at : null)),
    quotedText: constant(null),
    issueId: value((comment: LinearComment) => uuidOrNull(issueIdOf(comment))),
    projectId: value((comment: LinearComment) => uuidOrNull(projectIdOf(comment))),
    parentId: value(({ parent_comment_id }: LinearComment) => uuidOrNull(parent_comment_id)),
    reactionData: constant([]),
    reactions: object(
      () => unknownType,
      () => [],
    ),
    user: reference(
      () => userType,
      (load) => load.users,
      ({ author_id }: LinearComment) => author_id,
    ),
    issue: reference(
      () => issueType,
      (load) => load.issues,
      issueIdOf,
    ),
    project: reference(
      () => projectType,
      (load) => load.projects,
      projectIdOf,
    ),
    parent: reference(
      () => commentType,
      (load) => load.comments,
      ({ parent_comment_id }: LinearComment) => parent_comment_id,
    ),
    children: nested(
      () => commentConnection,
      () => commentSource,
      sql`c.parent_comment_id = parent.key`,
      ({ id }: LinearComment) => id,
    ),
  },
}

function issueIdOf({ target_type, target_id }: LinearComment) {
  return target_type === 'issue' && target_id !== '' ? target_id : null
}

function projectIdOf({ target_type, target_id }: LinearComment) {
  return target_type === 'project' ? target_id : null
}

export const labelType: ObjectType = {
  name: 'IssueLabel',
  fields: {
    ...identified,
    ...dated<Label>(),
    name: value(({ name }: Label) => name),
    color: value(({ color }: Label) => color ?? '#8b8f98'),
    description: constant(null),
    isGroup: constant(false),
  },
}

export const projectType: ObjectType = {
  name: 'Project',
  fields: {
    ...identified,
    ...dated<Project>(),
    name: value(({ title }: Project) => title),
    description: value(({ description }: Project) => readable(description)),
    content: value(({ description }: Project) => readable(description)),
    url: value(({ url }: Project) => url),
    slugId: value(({ id, title }: Project) => slug(`${title} ${id.slice(-12)}`)),
    state: value(({ status }: Project) => projectStateOf(status)),
    health: value(({ health_status }: Project) => healthOf(health_status)),
    color: constant('#8b8f98'),
    icon: constant(null),
    priority: value(({ priority }: Project) => priorities[priority].number),
    priorityLabel: value(({ priority }: Project) => priorities[priority].label),
    progress: value(({ progress }: Project) => (progress ?? 0) / 100),
    scope: constant(0),
    sortOrder: constant(0),
    prioritySortOrder: constant(0),
    labelIds: value(({ label_ids }: Project) => label_ids.map(uuidOf)),
    startDate: value(({ start_date }: Project) => start_date?.slice(0, 10) ?? null),
    targetDate: value(({ target_date }: Project) => target_date?.slice(0, 10) ?? null),
    completedAt: value(({ completed_at }: Project) => completed_at),
    canceledAt: constant(null),
    lead: reference(
      () => userType,
      (load) => load.users,
      ({ lead_id }: Project) => lead_id,
    ),
    creator: reference(
      () => userType,
      (load) => load.users,
      ({ owner_id }: Project) => owner_id,
    ),
    issues: nested(
      () => issueConnection,
      () => issueSource,
      sql`i.project_id = parent.key`,
      ({ id }: Project) => id,
    ),
    teams: nested(
      () => teamConnection,
      () => teamSource,
      sql`exists (select from project_teams where project_id = parent.key and team_id = t.id)`,
      ({ id }: Project) => id,
    ),
  },
}

const healthOf = (health: Project['health_status']) =>
  health && { on_track: 'onTrack', at_risk: 'atRisk', off_track: 'offTrack' }[health]

const linkType: ObjectType = {
  name: 'AgentSessionExternalLink',
  fields: { label: value(({ label }: ExternalUrl) => label), url: value(({ url }: ExternalUrl) => url) },
}

export const sessionType: ObjectType = {
  name: 'AgentSession',
  fields: {
    ...identified,
    ...dated<AgentSession>(),
    status: value(({ state }: AgentSession) => state),
    type: constant('commentThread'),
    endedAt: value(({ ended_at }: AgentSession) => ended_at),
    startedAt: value(({ created_at }: AgentSession) => created_at),
    plan: value(({ plan }: AgentSession) => plan),
    summary: constant(null),
    context: constant({}),
    slugId: value(({ id }: AgentSession) => id.slice(-12)),
    url: value(({ comment, issue }: AgentSession) => comment?.url ?? issue?.url ?? null),
    externalLink: value(({ external_urls: [link] }: AgentSession) => link?.url ?? null),
    externalUrls: value(({ external_urls }: AgentSession) => external_urls),
    externalLinks: object(
      () => linkType,
      ({ external_urls }: AgentSession) => external_urls.map((link) => ({ ...link })),
    ),
    appUser: reference(
      () => userType,
      (load) => load.users,
      ({ app_user_id }: AgentSession) => app_user_id,
    ),
    creator: reference(
      () => userType,
      (load) => load.users,
      ({ creator }: AgentSession) => creator.id,
    ),
    issue: reference(
      () => issueType,
      (load) => load.issues,
      ({ issue }: AgentSession) => issue?.id ?? null,
    ),
    comment: reference(
      () => commentType,
      (load) => load.comments,
      ({ comment }: AgentSession) => comment?.id ?? null,
    ),
    activities: {
      ...nested(
        () => activityConnection,
        () => activitySource,
        sql`a.session_id = parent.key`,
        ({ id }: AgentSession) => id,
      ),
      statements: 3,
    },
  },
}

interface Content {
  __typename: string
  type: string
  body?: string
  action?: string
  parameter?: string
  result?: string
  reason_code?: string
}

const contentType: ObjectType = {
  name: 'AgentActivityContent',
  union: true,
  fields: {
    type: value(({ type }: Content) => type),
    body: value(({ body }: Content) => body && readable(body)),
    action: value(({ action }: Content) => action),
    parameter: value(({ parameter }: Content) => parameter),
    result: value(({ result }: Content) => result),
    reasonCode: value(({ reason_code }: Content) => reason_code),
  },
}

export const activityType: ObjectType = {
  name: 'AgentActivity',
  fields: {
    ...identified,
    createdAt: value(({ created_at }: PlacedActivity) => created_at),
    updatedAt: value(({ created_at }: PlacedActivity) => created_at),
    archivedAt: constant(null),
    content: object(
      () => contentType,
      ({ content }: PlacedActivity): Content => ({
        __typename: `AgentActivity${content.type.charAt(0).toUpperCase()}${content.type.slice(1)}Content`,
        ...content,
      }),
    ),
    ephemeral: value(({ ephemeral }: PlacedActivity) => ephemeral),
    signal: value(({ signal }: PlacedActivity) => signal),
    signalMetadata: value(({ signal_metadata }: PlacedActivity) => camelCased(signal_metadata)),
    sourceMetadata: constant(null),
    user: reference(
      () => userType,
      (load) => load.users,
      ({ author }: PlacedActivity) => author.id,
    ),
    agentSession: reference(
      () => sessionType,
      (load) => load.sessions,
      ({ sessionId }: PlacedActivity) => sessionId,
    ),
    sourceComment: {
      type: () => commentType,
      statements: 1,
      resolve: async (parents, _args, { load }) => {
        const sessions = await load.sessions(parents.map(({ sessionId }) => sessionId))
        return parents.map((activity) => commentOfActivity(activity, sessions.get(activity.sessionId)))
      },
    } as Field<PlacedActivity>,
  },
}

export const issueConnection = connectionOf(() => issueType)
export const commentConnection = connectionOf(() => commentType)
export const userConnection = connectionOf(() => userType)
export const teamConnection = connectionOf(() => teamType)
export const labelConnection = connectionOf(() => labelType)
export const projectConnection = connectionOf(() => projectType)
export const sessionConnection = connectionOf(() => sessionType)
export const activityConnection = connectionOf(() => activityType)
export const stateConnection = connectionOf(() => stateType)
export const relationConnection = connectionOf(() => relationType)
export const attachmentConnection = connectionOf(() => attachmentType)
