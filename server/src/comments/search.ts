import type { FoundComment } from '@baton/protocol'
import type { Context } from '../context.ts'
import { containing } from '../db/like.ts'
import { none, sql } from '../db/sql.ts'
import { readComments, withoutPlace } from '../events/placed-comments.ts'
import type { Member } from '../http/caller.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { issueInReach, projectInReach } from '../installations/reach.ts'

/** The first ten words that the index can find: it contains sequences of three letters or digits. */
const wordsOf = (query: string) =>
  query
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]{3}/u.test(word))
    .slice(0, 10)

/** Comments that contain all words of the query and that the person can see, newest first. */
export async function searchComments(ctx: Context, caller: Member, query: PageQuery & { query: string }) {
  const words = wordsOf(query.query)
  if (words.length === 0) return { data: [], next_cursor: null }
  const matching = words.reduce((all, word) => sql`${all} and c.text ilike ${containing(word)}`, none)
  return page<FoundComment>(
    ctx.keys,
    'search in comments',
    query,
    (comment) => [comment.id],
    async (after, count) => {
      const comments = await readComments(
        ctx.config,
        ctx.db,
        sql`c.workspace_id = ${caller.workspaceId} and coalesce(${issueInReach(caller)}, ${projectInReach(caller)})
          ${matching} ${after ? sql`and c.id < ${after[0]}` : none} order by c.id desc limit ${count}`,
      )
      return comments.map((comment) => ({ ...withoutPlace(comment), target: comment.target }))
    },
  )
}
