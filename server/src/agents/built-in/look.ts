import { api, type Comment, type Issue, type IssueChangeRecord, limits } from '@baton/protocol'
import { issueUrlSql } from '../../addresses.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { App } from '../../http/caller.ts'
import { issueInReach } from '../../installations/reach.ts'
import type { Hands } from '../mind.ts'
import { asWritten, Likeness, type Worded } from './likeness.ts'
import type { Other, Surroundings } from './relations.ts'

/** Of these each issue is compared with: the newest, and those that have two words of it, or a title that looks alike. */
const newest = 300
const wordy = 200
/** Before they are put in order, so that common words do not make it read everything. */
const matched = 2000
const lookalikes = 50
const wordsAsked = 14
/** More than the first page is read of no discussion. */
const relationsRead = 50

/** By how much two issues must be alike, and in how many words. Tried on the demo's issues, which hold four pairs. */
const duplicate = { likeness: 0.38, words: 3 }
const related = { likeness: 0.22, words: 2 }
const titlesAlike = 0.6

export interface Match extends Other {
  is: 'duplicate' | 'related'
  shared: string[]
}

/** Somebody who wants a thing and somebody who misses it say the same; who repairs it, or has a task, does not. */
const kindOf = (type: Issue['type']) => (type === 'story' ? 'feature' : type)

/** The operation that a tool of this name stands for, used as the agent. Refusals end the work. */
export async function used<Body>(hands: Hands, operation: unknown, input: Record<string, unknown>): Promise<Body> {
  const tool = hands.tools.find((one) => one.operation === operation)
  if (!tool) throw new Error('the agent has no such tool')
  const outcome = await hands.call(tool, input)
  if (!outcome.ok) throw outcome.refusal
  return outcome.body as Body
}

export const readIssue = (hands: Hands, id: string) => used<Issue>(hands, api.getIssue, { issue_id: id })

/** What people said about it. */
export async function readThreads(hands: Hands, target_type: 'issue' | 'project', target_id: string) {
  const page = await used<{ data: Comment[] }>(hands, api.listComments, {
    target_type,
    target_id,
    limit: limits.pageMax,
  })
  return page.data
}

/** When people last did something about it; handing it over and asking about it does not count. */
export async function lastTouched(hands: Hands, issue: Issue, comments: Comment[]): Promise<Date> {
  const { data } = await used<{ data: IssueChangeRecord[] }>(hands, api.listIssueHistory, { issue_id: issue.id })
  const change = data.find(({ changes }) => !Object.hasOwn(changes, 'delegate_id'))
  const times = [issue.created_at, change?.created_at, comments.at(-1)?.created_at]
  return new Date(Math.max(...times.flatMap((at) => (at ? [Date.parse(at)] : []))))
}

/** An issue's neighbours that the agent reaches. */
export async function readSurroundings({ db, config }: Context, caller: App, issue: Issue): Promise<Surroundings> {
  const rows = await db.rows<Other & { as: 'blocker' | 'blocked' | 'parent' | 'child' }>(sql`
    select n.as, i.id, i.code, i.title, i.status, u.display_name as assignee,
      ${issueUrlSql(config)} as url
    from (
      select 'blocker' as as, blocker_id as id from issue_blocks where blocked_id = ${issue.id}
      union all select 'blocked', blocked_id from issue_blocks where blocker_id = ${issue.id}
      union all select 'parent', ${issue.parent_id}::text
      union all (select 'child', id from issues where parent_id = ${issue.id} order by id limit ${relationsRead})
    ) n
    join issues i on i.id = n.id and i.workspace_id = ${caller.workspaceId} and ${issueInReach(caller)}
    left join users u on u.id = i.assignee_id
    order by i.id`)
  const those = (as: string) => rows.filter((row) => row.as === as)
  return {
    issue,
    blockers: those('blocker'),
    blocked: those('blocked'),
    parent: those('parent')[0] ?? null,
    children: those('child'),
  }
}

interface Row extends Other {
  type: Issue['type']
  words: Worded
  /** Of the titles, by their letters. */
  look: number
}

/** Issues that are about the same, or nearly, most alike first. */
export async function findAlike(ctx: Context, caller: App, issue: Issue) {
  const words = await wordsOf(ctx.db, issue)
  const pool = await ctx.db.rows<Row>(poolStatement(ctx, caller, issue, words))
  const likeness = new Likeness([...pool.map((row) => row.words), words])
  const text = `${issue.title} ${issue.description}`
  const ranked = pool
    .map((row) => ({
      row,
      alike: Math.max(likeness.between(words, row.words), row.look >= titlesAlike ? row.look : 0),
    }))
    .filter(({ alike }) => alike >= related.likeness)
    .sort((a, b) => b.alike - a.alike)
  const matches = ranked.flatMap(({ row, alike }): Match[] => {
    const { words: theirs, look, type, ...other } = row
    const shared = likeness.shared(words, theirs).flatMap((stem) => asWritten(stem, text) ?? [])
    const enough = (needed: typeof duplicate) => alike >= needed.likeness && shared.length >= needed.words
    const same = look >= titlesAlike || (kindOf(type) === kindOf(issue.type) && enough(duplicate))
    return same || enough(related) ? [{ ...other, is: same ? 'duplicate' : 'related', shared }] : []
  })
  return { compared: pool.length, matches }
}

/** Stems, as the index has them. */
async function wordsOf(db: Queryable, { title, description }: Issue): Promise<Worded> {
  const row = await db.row<Worded>(sql`
    select tsvector_to_array(to_tsvector('english', ${title})) as title,
      tsvector_to_array(to_tsvector('english', left(${description}, 2000))) as description`)
  return row ?? { title: [], description: [] }
}

function poolStatement({ config }: Context, caller: App, issue: Issue, words: Worded) {
  const others = sql`i.workspace_id = ${caller.workspaceId} and i.id <> ${issue.id} and ${issueInReach(caller)}`
  return sql`
    select i.id, i.code, i.title, i.status, i.type, u.display_name as assignee,
      ${issueUrlSql(config)} as url,
      jsonb_build_object('title', tsvector_to_array(to_tsvector('english', i.title)),
        'description', tsvector_to_array(to_tsvector('english', left(i.description, 2000)))) as words,
      similarity(i.title, ${issue.title}) as look
    from issues i left join users u on u.id = i.assignee_id
    where i.id in (
      (select i.id from issues i where ${others} order by i.id desc limit ${newest})
      union (select m.id from (
          select i.id from issues i where ${others}
            and to_tsvector('english', i.title || ' ' || left(i.description, 2000)) @@ ${pairsOf(words)}::tsquery
          limit ${matched}) m
        order by m.id desc limit ${wordy})
      union (select i.id from issues i where ${others} and i.title % ${issue.title} limit ${lookalikes}))`
}

/** Any two of its words, those of the title first. */
function pairsOf({ title, description }: Worded): string {
  const words = [...new Set([...title, ...description])].filter((word) => /^[\p{L}\d]{2,40}$/u.test(word))
  const asked = words.slice(0, wordsAsked)
  const pairs = asked.flatMap((a, index) => asked.slice(index + 1).map((b) => `'${a}' & '${b}'`))
  return pairs.join(' | ')
}
