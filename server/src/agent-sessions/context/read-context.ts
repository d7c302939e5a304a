import { limits } from '@baton/protocol'
import { issueUrl, projectUrl } from '../../addresses.ts'
import type { Config } from '../../config.ts'
import type { Queryable } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { nameOfUser } from '../../login/names.ts'
import type { Session } from '../session.ts'
import { type ContextSource, contextOf, type SessionContext } from './prompt-context.ts'

/** More than fits into a prompt, but a limited load for the database. */
const commentsRead = 1000
const charactersRead = 200_000

type ContextSession = Pick<Session, 'issueId' | 'projectId' | 'installationId' | 'workspaceId'>

/** Reads the context that an agent gets with a new session. */
export const readContext = async (
  db: Queryable,
  config: Config,
  session: ContextSession,
  triggerId: string | null,
): Promise<SessionContext> => contextOf(await readSource(db, config, session, triggerId))

export async function readSource(
  db: Queryable,
  config: Config,
  { issueId, projectId, installationId, workspaceId }: ContextSession,
  triggerId: string | null,
): Promise<ContextSource> {
  const subject = issueId
    ? await readIssue(db, config, issueId, installationId)
    : await readProject(db, config, projectId as string, installationId)
  const isOnSubject = issueId ? sql`c.issue_id = ${issueId}` : sql`c.project_id = ${projectId}`
  const workspace = await db.row<{ guidance: string }>(sql`select guidance from workspaces where id = ${workspaceId}`)
  return {
    ...subject,
    comments: await readThreads(db, isOnSubject, triggerId),
    triggerId,
    workspaceGuidance: workspace?.guidance ?? '',
  }
}

type Subject = Pick<ContextSource, 'subject' | 'teamGuidance' | 'repositories'>

/**
 * Project and parent only if the app reaches them (context.project-out-of-reach, context.parent-out-of-reach). An agent
 * inside the service has no installation, and reaches what the issue refers to.
 */
async function readIssue(db: Queryable, config: Config, id: string, installationId: string | null): Promise<Subject> {
  const issue = await db.row<{
    identifier: string
    title: string
    description: string
    labels: string[]
    project: string | null
    parent: { identifier: string; title: string } | null
    team: (TeamRow & { repositories: { repository: string }[] }) | null
  }>(sql`
    select i.code as identifier, i.title, i.description, p.title as project,
      array(select l.name from issue_labels n join labels l on l.id = n.label_id where n.issue_id = i.id order by l.name)
        as labels,
      case when o.id is not null then jsonb_build_object('identifier', o.code, 'title', o.title) end as parent,
      case when t.id is not null then jsonb_build_object('id', t.id, 'key', t.key, 'name', t.name,
        'guidance', t.guidance, 'repositories', t.repositories) end as team
    from issues i
    left join teams t on t.id = i.team_id
    left join installations n on n.id = ${installationId}
    left join projects p on p.id = i.project_id and (n.id is null or not p.personal and (n.all_teams
      or exists (select from project_teams where project_id = p.id and team_id = any(n.team_ids))))
    left join issues o on o.id = i.parent_id and (n.id is null or not o.personal and (n.all_teams
      or o.team_id = any(n.team_ids)))
    where i.id = ${id}`)
  if (!issue) throw new Error(`issue ${id} does not exist`)
  const { team, ...rest } = issue
  return {
    subject: { kind: 'issue', url: issueUrl(config, issue.identifier), team: team && teamFields(team), ...rest },
    teamGuidance: guidanceOf(team ? [team] : []),
    repositories: team?.repositories ?? [],
  }
}

async function readProject(db: Queryable, config: Config, id: string, installationId: string | null): Promise<Subject> {
  const project = await db.row<{
    title: string
    description: string
    labels: string[]
    teams: (TeamRow & { covered: boolean })[]
  }>(sql`
    select p.title, p.description,
      array(select l.name from project_labels n join labels l on l.id = n.label_id where n.project_id = p.id
        order by l.name) as labels,
      coalesce((select jsonb_agg(jsonb_build_object('id', t.id, 'key', t.key, 'name', t.name, 'guidance', t.guidance,
          'covered', n.id is null or n.all_teams or t.id = any(n.team_ids)) order by t.key)
        from project_teams m join teams t on t.id = m.team_id
        left join installations n on n.id = ${installationId} where m.project_id = p.id), '[]') as teams
    from projects p where p.id = ${id}`)
  if (!project) throw new Error(`project ${id} does not exist`)
  const { teams, ...rest } = project
  return {
    subject: { kind: 'project', url: projectUrl(config, id), teams: teams.map(teamFields), ...rest },
    teamGuidance: guidanceOf(teams.filter(({ covered }) => covered)),
    repositories: [],
  }
}

interface TeamRow {
  id: string
  key: string
  name: string
  guidance: string
}

const teamFields = ({ id, key, name }: TeamRow) => ({ id, key, name })
const guidanceOf = (teams: TeamRow[]) =>
  teams.map(({ id, key, guidance }) => ({ teamId: id, teamKey: key, body: guidance }))

/** The latest comments up to the triggering one, oldest first, without internal ones. */
const readThreads = (db: Queryable, isOnSubject: Sql, triggerId: string | null): Promise<ContextSource['comments']> =>
  db.rows(sql`
    select c.id, coalesce(c.parent_comment_id, c.id) as "rootId", c.text as body, c.created_at as "createdAt",
      ${nameOfUser} as author
    from (
      select c.*, row_number() over latest as number, sum(length(c.text)) over latest as characters
      from (
        select * from comments c where ${isOnSubject} and not c.internal and (${triggerId}::text is null or c.id <= ${triggerId})
        order by c.id desc limit ${commentsRead}
      ) c window latest as (order by c.id desc)
    ) c left join users u on u.id = c.author_id
    where c.number <= ${limits.previousComments + 1} or c.characters <= ${charactersRead}
      or coalesce(c.parent_comment_id, c.id) = (select coalesce(parent_comment_id, id) from comments where id = ${triggerId})
    order by c.id`)
