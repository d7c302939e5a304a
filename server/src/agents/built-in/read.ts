import { api, type Comment, type Issue, type IssueChangeRecord, limits } from '@baton/protocol'
import { issueUrlSql } from '../../addresses.ts'
import type { Context } from '../../context.ts'
import { sql } from '../../db/sql.ts'
import type { App } from '../../http/caller.ts'
import { issueInReach } from '../../installations/reach.ts'
import type { AgentSessionApi } from '../agent-session-api.ts'
import type { RelatedIssue, Relations } from './relations.ts'

const childrenRead = 50

/** Calls the tool of an operation as the agent. A refusal is thrown and ends the work. */
export async function useTool<Body>(
  session: AgentSessionApi,
  operation: unknown,
  input: Record<string, unknown>,
): Promise<Body> {
  const tool = session.tools.find((one) => one.operation === operation)
  if (!tool) throw new Error('the agent has no such tool')
  const outcome = await session.call(tool, input)
  if (!outcome.ok) throw outcome.refusal
  return outcome.body as Body
}

export const readIssue = (session: AgentSessionApi, id: string) =>
  useTool<Issue>(session, api.getIssue, { issue_id: id })

/** The first page of the discussion. */
export async function readComments(session: AgentSessionApi, issueId: string) {
  const page = await useTool<{ data: Comment[] }>(session, api.listComments, {
    target_type: 'issue',
    target_id: issueId,
    limit: limits.pageMax,
  })
  return page.data
}

/** The time of the last change or comment. Changes of the delegate do not count. */
export async function lastActivityAt(session: AgentSessionApi, issue: Issue, comments: Comment[]): Promise<Date> {
  const { data } = await useTool<{ data: IssueChangeRecord[] }>(session, api.listIssueHistory, { issue_id: issue.id })
  const change = data.find(({ changes }) => !Object.hasOwn(changes, 'delegate_id'))
  const times = [issue.created_at, change?.created_at, comments.at(-1)?.created_at]
  return new Date(Math.max(...times.flatMap((at) => (at ? [Date.parse(at)] : []))))
}

/** The related issues that the agent can access. */
export async function readRelations({ db, config }: Context, caller: App, issue: Issue): Promise<Relations> {
  const rows = await db.rows<RelatedIssue & { as: 'blocker' | 'blocked' | 'parent' | 'child' }>(sql`
    select n.as, i.id, i.code, i.title, i.status, u.display_name as assignee,
      ${issueUrlSql(config)} as url
    from (
      select 'blocker' as as, blocker_id as id from issue_blocks where blocked_id = ${issue.id}
      union all select 'blocked', blocked_id from issue_blocks where blocker_id = ${issue.id}
      union all select 'parent', ${issue.parent_id}::text
      union all (select 'child', id from issues where parent_id = ${issue.id} order by id limit ${childrenRead})
    ) n
    join issues i on i.id = n.id and i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}
    left join users u on u.id = i.assignee_id
    order by i.id`)
  const assignee = await db.row<{ timeZone: string | null }>(sql`
    select time_zone as "timeZone" from users where id = ${issue.assignee_id}`)
  const related = (as: string) => rows.filter((row) => row.as === as)
  return {
    issue,
    timeZone: assignee?.timeZone ?? null,
    blockers: related('blocker'),
    blocked: related('blocked'),
    parent: related('parent')[0] ?? null,
    children: related('child'),
  }
}

/** The issues that this agent linked with the issue as duplicates. Deleting its comment undoes the link. */
export const readLinkedDuplicates = ({ db, config }: Context, caller: App, issue: Issue) =>
  db.rows<Pick<RelatedIssue, 'id' | 'code' | 'title' | 'url'>>(sql`
    select distinct i.id, i.code, i.title, ${issueUrlSql(config)} as url
    from comments c
    join issue_codes k on k.workspace_id = c.workspace_id and k.code = substring(c.text from ${linkedCode})
    join issues i on i.id = k.issue_id and i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}
    where c.issue_id = ${issue.id} and c.author_id = ${caller.id}
      and (c.text like 'Duplicate of [%' or c.text like '% is a duplicate of this issue.')
    order by i.id`)

/** The code in the link of a comment about a duplicate. */
const linkedCode = '\\]\\([^)]*/issue/([A-Z0-9]+-[0-9]+)\\)'
