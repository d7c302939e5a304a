import type { AgentSession, Comment, Issue, IssueStatus, Label, Project, Team } from '@baton/protocol'
import { issueStatuses } from '@baton/protocol'
import { isVisibleTo } from '../agent-sessions/read.ts'
import { visibleTo as commentVisibleTo } from '../comments/comments.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { App } from '../http/caller.ts'
import type { IdPrefix } from '../ids.ts'
import { issueInReach, projectInReach } from '../installations/reach.ts'
import { inputId, isId, statusOf } from '../linear-shape/ids.ts'
import { states } from '../linear-shape/names.ts'
import { memberCovered, teamCovered } from '../workspaces/coverage.ts'
import { usersSeenBy } from '../workspaces/users.ts'
import type { Source } from './connections.ts'
import type { Column, Filterable, Relation } from './filters.ts'
import type { PlacedActivity, User } from './loaders.ts'

// The lists of the workspace, each with the rows that the app can see and the filters that it supports.

const id = (column: Sql, prefix: IdPrefix): Column => ({
  kind: 'id',
  sql: column,
  idOf: (input) => inputId(prefix, input),
})
const text = (column: Sql): Column => ({ kind: 'text', sql: column })
const times = (table: Sql) => ({
  createdAt: { kind: 'time', sql: sql`${table}.created_at` } satisfies Column,
  updatedAt: { kind: 'time', sql: sql`${table}.updated_at` } satisfies Column,
})

/** An issue may be given by its code too. */
const issueId = (column: Sql, { workspaceId }: App): Column => ({
  kind: 'id',
  sql: column,
  idOf: (input) => {
    const known = inputId('iss', input)
    return isId('iss', known)
      ? known
      : sql`(select issue_id from issue_codes where workspace_id = ${workspaceId} and code = ${input.toUpperCase()})`
  },
})

const user = (column: Sql, caller: App): Relation => ({
  isNull: sql`(${column} is null)`,
  columns: {
    id: id(column, 'usr'),
    name: text(sql`(select display_name from users where id = ${column})`),
    email: text(sql`(select u.email from users u join memberships m on m.user_id = u.id
      where u.id = ${column} and m.workspace_id = ${caller.workspaceId} and ${memberCovered(caller, column)})`),
  },
})

const team = (column: Sql): Relation => ({
  isNull: sql`(${column} is null)`,
  columns: {
    id: id(column, 'team'),
    key: text(sql`(select key from teams where id = ${column})`),
    name: text(sql`(select name from teams where id = ${column})`),
  },
})

const byStatus = (column: Sql, textOf: (status: IssueStatus) => string) =>
  sql`(case ${issueStatuses.reduce((all, status) => sql`${all} when ${column} = ${status} then ${textOf(status)}`, sql``)} end)`

const state = (column: Sql): Relation => ({
  columns: {
    id: { kind: 'id', sql: column, idOf: (input) => statusOf(input) ?? '' },
    name: text(byStatus(column, (status) => states[status].name)),
    type: text(byStatus(column, (status) => states[status].type)),
  },
})

export const issueSource: Source<Issue> = {
  from: sql`issues i`,
  id: sql`i.id`,
  updatedAt: sql`i.updated_at`,
  visibleTo: (caller) => sql`i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}`,
  filters: (caller): Filterable => ({
    id: issueId(sql`i.id`, caller),
    ...times(sql`i`),
    title: text(sql`i.title`),
    number: { kind: 'number', sql: sql`split_part(i.code, '-', 2)::bigint` },
    parent: { isNull: sql`(i.parent_id is null)`, columns: { id: issueId(sql`i.parent_id`, caller) } },
    state: state(sql`i.status`),
    team: team(sql`i.team_id`),
    assignee: user(sql`i.assignee_id`, caller),
    delegate: user(sql`i.delegate_id`, caller),
    labels: {
      columns: {
        some: {
          columns: { id: id(sql`l.id`, 'lbl'), name: text(sql`l.name`), ...times(sql`l`) },
          where: (condition) => sql`exists (
            select from issue_labels n join labels l on l.id = n.label_id where n.issue_id = i.id and ${condition})`,
        },
      },
    },
  }),
  load: (load) => load.issues,
}

export const commentSource: Source<Comment> = {
  from: sql`comments c left join issues i on i.id = c.issue_id left join projects p on p.id = c.project_id`,
  id: sql`c.id`,
  updatedAt: sql`c.updated_at`,
  visibleTo: (caller) => sql`c.workspace_id = ${caller.workspaceId} and ${commentVisibleTo(caller)}`,
  filters: (caller) => ({
    id: id(sql`c.id`, 'cmt'),
    ...times(sql`c`),
    issue: { isNull: sql`(c.issue_id is null)`, columns: { id: issueId(sql`c.issue_id`, caller) } },
    parent: { isNull: sql`(c.parent_comment_id is null)`, columns: { id: id(sql`c.parent_comment_id`, 'cmt') } },
  }),
  load: (load) => load.comments,
}

export const labelSource: Source<Label> = {
  from: sql`labels l`,
  id: sql`l.id`,
  updatedAt: sql`l.updated_at`,
  visibleTo: ({ workspaceId }) => sql`l.workspace_id = ${workspaceId}`,
  filters: () => ({ id: id(sql`l.id`, 'lbl'), ...times(sql`l`), name: text(sql`l.name`) }),
  load: (load) => load.labels,
}

export const projectSource: Source<Project> = {
  from: sql`projects p`,
  id: sql`p.id`,
  updatedAt: sql`p.updated_at`,
  visibleTo: (caller) => sql`p.workspace_id = ${caller.workspaceId} and ${projectInReach(caller)}`,
  filters: () => ({ id: id(sql`p.id`, 'prj'), ...times(sql`p`), name: text(sql`p.title`) }),
  load: (load) => load.projects,
}

export const teamSource: Source<Team> = {
  from: sql`teams t`,
  id: sql`t.id`,
  updatedAt: sql`t.updated_at`,
  visibleTo: (caller) => sql`t.workspace_id = ${caller.workspaceId} and ${teamCovered(caller, sql`t.id`)}`,
  filters: () => ({ id: id(sql`t.id`, 'team'), ...times(sql`t`), key: text(sql`t.key`), name: text(sql`t.name`) }),
  load: (load) => load.teams,
}

export const userSource: Source<User> = {
  from: sql`users u`,
  id: sql`u.id`,
  updatedAt: null,
  visibleTo: (caller) => sql`u.id in (${usersSeenBy(caller)})`,
  filters: () => ({
    id: id(sql`u.id`, 'usr'),
    createdAt: { kind: 'time', sql: sql`u.created_at` },
    name: text(sql`u.display_name`),
    email: text(sql`u.email`),
  }),
  load: (load) => load.users,
}

export const sessionSource: Source<AgentSession> = {
  from: sql`agent_sessions s left join issues i on i.id = s.issue_id left join projects p on p.id = s.project_id`,
  id: sql`s.id`,
  updatedAt: sql`s.updated_at`,
  visibleTo: isVisibleTo,
  anyScope: true,
  filters: () => ({ id: id(sql`s.id`, 'sess'), ...times(sql`s`) }),
  load: (load) => load.sessions,
}

/** Below a session that the app can see. */
export const activitySource: Source<PlacedActivity> = {
  from: sql`agent_activities a`,
  id: sql`a.id`,
  updatedAt: null,
  visibleTo: ({ workspaceId }) => sql`a.workspace_id = ${workspaceId}`,
  anyScope: true,
  filters: () => ({
    id: id(sql`a.id`, 'act'),
    createdAt: { kind: 'time', sql: sql`a.created_at` },
    updatedAt: { kind: 'time', sql: sql`a.created_at` },
    type: text(sql`a.type`),
  }),
  load: (load) => load.activities,
}
