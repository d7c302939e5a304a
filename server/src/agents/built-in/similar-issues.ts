import type { Issue } from '@baton/protocol'
import { issueUrlSql } from '../../addresses.ts'
import type { Context } from '../../context.ts'
import type { Queryable } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { App } from '../../http/caller.ts'
import { issueInReach } from '../../installations/reach.ts'
import { type SimilarIssue, similarCompared } from './agreement.ts'
import type { RelatedIssue } from './relations.ts'
import { TextSimilarity, type WordStems, wordForStem } from './text-similarity.ts'

/** An issue is compared with the newest issues, with those that share two of its words, and with similar titles. */
const newestCompared = 300
const sharedWordsCompared = 200
const similarTitlesCompared = 50
/** Rows that share two words, before sorting: common words must not make the query read the whole table. */
const sharedWordsRead = 2000
const wordsSearched = 14

/** Minimum similarity and number of shared words. Tuned on the demo's issues, which contain four pairs. */
const duplicate = { similarity: 0.38, words: 3 }
const related = { similarity: 0.22, words: 2 }
const similarTitle = 0.6

export interface Match extends RelatedIssue {
  kind: 'duplicate' | 'related'
  shared: string[]
}

/** A story and a feature can describe the same thing; other types are duplicates only of their own type. */
const duplicateGroup = (type: Issue['type']) => (type === 'story' ? 'feature' : type)

interface Row extends RelatedIssue, SimilarIssue {
  words: WordStems
  titleSimilarity: number
}

/** Likely duplicates and related issues, most similar first; `similar` has the fields of the first of them. */
export async function findSimilarIssues(ctx: Context, caller: App, issue: Issue) {
  const words = await stemsOf(ctx.db, issue)
  const candidates = await ctx.db.rows<Row>(candidatesStatement(ctx, caller, issue, words))
  const texts = new TextSimilarity([...candidates.map((row) => row.words), words])
  const text = `${issue.title} ${issue.description}`
  const ranked = candidates
    .map((row) => ({
      row,
      similarity: Math.max(
        texts.between(words, row.words),
        row.titleSimilarity >= similarTitle ? row.titleSimilarity : 0,
      ),
    }))
    .filter(({ similarity }) => similarity >= related.similarity)
    .sort((a, b) => b.similarity - a.similarity)
  const similar: SimilarIssue[] = []
  const matches = ranked.flatMap(({ row, similarity }): Match[] => {
    const { words: theirs, titleSimilarity, type, priority, labels, ...other } = row
    const shared = texts.shared(words, theirs).flatMap((stem) => wordForStem(stem, text) ?? [])
    const enough = (needed: typeof duplicate) => similarity >= needed.similarity && shared.length >= needed.words
    const same =
      titleSimilarity >= similarTitle || (duplicateGroup(type) === duplicateGroup(issue.type) && enough(duplicate))
    if (!same && !enough(related)) return []
    if (similar.length < similarCompared) similar.push({ code: other.code, type, priority, labels })
    return [{ ...other, kind: same ? 'duplicate' : 'related', shared }]
  })
  return { compared: candidates.length, matches, similar }
}

/** The stems must be the same as in the index. */
async function stemsOf(db: Queryable, { title, description }: Issue): Promise<WordStems> {
  const row = await db.row<WordStems>(sql`
    select tsvector_to_array(to_tsvector('english', ${title})) as title,
      tsvector_to_array(to_tsvector('english', left(${description}, 2000))) as description`)
  return row ?? { title: [], description: [] }
}

function candidatesStatement({ config }: Context, caller: App, issue: Issue, words: WordStems) {
  const others = sql`i.workspace_id = ${caller.workspaceId} and i.id <> ${issue.id} and ${issueInReach(caller)}`
  return sql`
    select i.id, i.code, i.title, i.status, i.type, i.priority, u.display_name as assignee,
      (select coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'name', l.name)), '[]')
        from issue_labels n join labels l on l.id = n.label_id where n.issue_id = i.id) as labels,
      ${issueUrlSql(config)} as url,
      jsonb_build_object('title', tsvector_to_array(to_tsvector('english', i.title)),
        'description', tsvector_to_array(to_tsvector('english', left(i.description, 2000)))) as words,
      similarity(i.title, ${issue.title}) as "titleSimilarity"
    from issues i left join users u on u.id = i.assignee_id
    where i.id in (
      (select i.id from issues i where ${others} order by i.id desc limit ${newestCompared})
      union (select m.id from (
          select i.id from issues i where ${others}
            and to_tsvector('english', i.title || ' ' || left(i.description, 2000)) @@ ${wordPairs(words)}::tsquery
          limit ${sharedWordsRead}) m
        order by m.id desc limit ${sharedWordsCompared})
      union (select i.id from issues i where ${others} and i.title % ${issue.title} limit ${similarTitlesCompared}))`
}

/** A tsquery for any two of the issue's words, words of the title first. */
function wordPairs({ title, description }: WordStems): string {
  const words = [...new Set([...title, ...description])].filter((word) => /^[\p{L}\d]{2,40}$/u.test(word))
  const searched = words.slice(0, wordsSearched)
  const pairs = searched.flatMap((a, index) => searched.slice(index + 1).map((b) => `'${a}' & '${b}'`))
  return pairs.join(' | ')
}
