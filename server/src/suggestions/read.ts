import type { Issue, Suggestion, SuggestionState, TriagedIssue } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, type Sql, sql } from '../db/sql.ts'
import type { Actor, Member } from '../http/caller.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { issueInReach } from '../installations/reach.ts'
import { issueColumns, type StoredIssue } from '../issues/queries.ts'
import { findIssueId, withUrl } from '../issues/read.ts'
import { nameOfUser } from '../login/names.ts'

/** Suggestions in the format of the API. `rest` is a condition on the suggestion `s`. */
export const readSuggestions = (db: Queryable, rest: Sql) =>
  db.rows<Suggestion>(sql`
    select s.id, s.issue_id, s.session_id, ${nameOfUser} as agent, s.field, s.value, s.reason, s.state, s.decided_by,
      s.decided_at, s.created_at
    from suggestions s join users u on u.id = s.agent_id
    where ${rest}`)

export async function listSuggestions(
  ctx: Context,
  caller: Actor,
  key: string,
  query: PageQuery & { state?: SuggestionState },
) {
  const issueId = await findIssueId(ctx.db, caller, key)
  return page<Suggestion>(
    ctx.keys,
    `suggestions for ${issueId}`,
    query,
    ({ id }) => [id],
    (after, count) =>
      readSuggestions(
        ctx.db,
        sql`s.issue_id = ${issueId} ${query.state ? sql`and s.state = ${query.state}` : none}
          ${after ? sql`and s.id < ${after[0]}` : none} order by s.id desc limit ${count}`,
      ),
  )
}

export async function listTriage(ctx: Context, caller: Member, query: PageQuery & { team_id?: string }) {
  const { data, next_cursor } = await page<Issue>(
    ctx.keys,
    'triage',
    query,
    ({ id }) => [id],
    async (after, count) => {
      // From the open suggestions, which are few, to their issues.
      const issues = await ctx.db.rows<StoredIssue>(sql`
        select ${issueColumns}
        from (select distinct s.issue_id from suggestions s
          where s.workspace_id = ${caller.workspaceId} and s.state = 'open'
            ${after ? sql`and s.issue_id < ${after[0]}` : none}) open
        join issues i on i.id = open.issue_id
        where ${issueInReach(caller)} ${query.team_id ? sql`and i.team_id = ${query.team_id}` : none}
        order by i.id desc limit ${count}`)
      return issues.map((issue) => withUrl(ctx.config, issue))
    },
  )
  const ids = data.map(({ id }) => id)
  const open = await readSuggestions(ctx.db, sql`s.issue_id = any(${ids}) and s.state = 'open' order by s.id`)
  const triaged = data.map(
    (issue): TriagedIssue => ({ issue, suggestions: open.filter(({ issue_id }) => issue_id === issue.id) }),
  )
  return { data: triaged, next_cursor }
}
