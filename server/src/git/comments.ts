import { type GitKind, programLimits } from '@baton/protocol'
import { issueUrl } from '../addresses.ts'
import { days, minutes, plus, repeat } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { sql } from '../db/sql.ts'
import type { Outcome } from '../outbound/client.ts'
import { openToken } from './connections.ts'
import { authorization, commentsUrl } from './hosts.ts'

const everyMs = 5000
const atOnce = 20
const maxAttempts = 5
/** For the list of existing comments. */
const listBytes = 1024 * 1024

interface Due {
  id: string
  connection_id: string
  kind: GitKind
  host: string
  token: string | null
  repository: string
  number: number
  private: boolean
  comment_attempts: number
  created_at: string
  issues: { code: string; title: string }[]
}

/**
 * Posts the comments that are due, one for each pull request. A worker that dies leaves the row due again later; before
 * a repeated attempt the existing comments are read, so that none is posted twice.
 */
export async function postDueComments(ctx: Context): Promise<number> {
  const now = ctx.clock.now()
  const due = await ctx.db.rows<Due>(sql`
    with due as (
      select id from pull_requests p where comment_due_at <= ${now}
        and not exists (select from workspaces w where w.id = p.workspace_id and w.deletion_at is not null)
      order by comment_due_at limit ${atOnce} for update skip locked
    ), claimed as (
      update pull_requests p set comment_due_at = ${plus(now, minutes(5))}, comment_attempts = comment_attempts + 1
      from due where p.id = due.id
      returning p.*
    )
    select p.id, p.connection_id, c.kind, c.host, c.token, p.repository, p.number, p.private, p.comment_attempts, p.created_at,
      coalesce((
        select jsonb_agg(jsonb_build_object('code', i.code, 'title', i.title) order by i.id)
        from pull_request_issues l join issues i on i.id = l.issue_id
        where l.pull_request_id = p.id and l.source <> 'unlinked' and not i.personal), '[]') as issues
    from claimed p join git_connections c on c.id = p.connection_id`)
  for (const one of due) await post(ctx, one)
  return due.length
}

async function post(ctx: Context, due: Due) {
  const { keys, outbound, config, log } = ctx
  // Unlinked, or the token was removed, since it became due.
  if (due.token === null || due.issues.length === 0) return finish(ctx, due, 'none')
  const url = commentsUrl(due.kind, due.host, due.repository, due.number)
  const headers = {
    accept: 'application/json',
    'user-agent': 'Baton-Git/1',
    ...authorization(due.kind, openToken(keys, due.connection_id, due.token)),
  }
  if (due.comment_attempts > 1) {
    // GitLab lists the newest first, the others the oldest since a time; its clock may be behind ours.
    const since = plus(new Date(due.created_at), -days(1)).toISOString()
    const list = `${url}?per_page=100&limit=100&since=${since}`
    const listed = await outbound.send({ method: 'GET', url: list, headers }, listBytes)
    if (!listed.ok) return settle(ctx, due, listed)
    const first = due.issues[0] as Due['issues'][0]
    if (listed.body.includes(linkTo(config, first.code))) return finish(ctx, due, 'posted')
    // It may be in the rest. No comment is better than two.
    if (!listed.whole) return finish(ctx, due, 'none')
  }
  const body = Buffer.from(JSON.stringify({ body: commentText(config, due) }))
  const outcome = await outbound.send({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  if (!outcome.ok)
    log.warn({ connection: due.connection_id, reason: outcome.reason, status: outcome.status }, 'git comment')
  return settle(ctx, due, outcome)
}

/** Code and link of each issue. Readers of a public repository do not see the titles. */
export function commentText(config: Config, { issues, private: isPrivate }: Pick<Due, 'issues' | 'private'>): string {
  const line = ({ code, title }: Due['issues'][0]) => `${linkTo(config, code)}${isPrivate ? `: ${asCode(title)}` : ''}`
  return issues.slice(0, programLimits.gitLinks).map(line).join('\n\n')
}

/** As a whole: the address of ENG-1 is also the beginning of that of ENG-12. */
const linkTo = (config: Config, code: string) => `[${code}](${issueUrl(config, code)})`

/** As code, so that a title mentions no user and formats nothing. */
const asCode = (title: string) => `\`${title.replace(/[`\p{Cc}]/gu, ' ').trim()}\``

function settle(ctx: Context, due: Due, outcome: Outcome) {
  if (outcome.ok) return finish(ctx, due, 'posted')
  const isTemporary =
    outcome.status === null ? outcome.reason !== 'blocked_destination' : outcome.status === 429 || outcome.status >= 500
  return isTemporary && due.comment_attempts < maxAttempts ? undefined : finish(ctx, due, 'none')
}

/** Unless it is finished, it stays due at the time that the claim set. */
const finish = ({ db, clock }: Context, { id }: Due, result: 'posted' | 'none') =>
  db.run(sql`
    update pull_requests set comment_due_at = null, commented_at = ${result === 'posted' ? clock.now() : null}
    where id = ${id}`)

export const startComments = (ctx: Context) =>
  repeat(
    ctx.clock,
    everyMs,
    () => postDueComments(ctx),
    ({ message }) => ctx.log.warn({ message }, 'could not post comments on pull requests'),
  )
