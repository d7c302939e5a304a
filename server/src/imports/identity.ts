import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Origin } from './refs.ts'
import { findRefs } from './refs.ts'
import { type IssueIndex, type Problem, type Survey, titleHash } from './survey.ts'

const atOnce = 1000
/** Exports have the time zone of the user who exported: the same time can differ by this much. */
const zones = { between: 26 * 3_600_000, step: 15 * 60_000 }

/**
 * Ids of issues that an earlier import used for other issues. Two sources of one kind can have the same ids: numbers of
 * a CSV, or the codes of two workspaces. An issue is the same if its title or its time of creation is. One issue can get
 * another title; so only if most issues that are known here differ, they are those of another source. They are left out,
 * because an update would overwrite the issues here.
 */
export async function findStrangers(
  db: Queryable,
  origin: Origin,
  survey: Survey,
): Promise<{ ids: Set<string>; problems: Problem[] }> {
  const ids = new Set<string>()
  if (!(await wasImportedBefore(db, origin))) return { ids, problems: [] }
  let [same, other] = [0, 0]
  for (let start = 0; start < survey.issues.length; start += atOnce) {
    const issues = survey.issues.slice(start, start + atOnce)
    const refs = await findRefs(
      db,
      origin,
      'issue',
      issues.map(({ id }) => id),
    )
    const targets = [...refs.values()].map((ref) => ref.target_id)
    const here = await db.rows<Here>(sql`
      select id, title, created_at, updated_at from issues where id = any(${targets})`)
    const byId = new Map(here.map((one) => [one.id, one]))
    for (const issue of issues) {
      const ref = refs.get(issue.id)
      const known = ref && byId.get(ref.target_id)
      if (!known || ref.created_at >= origin.startedAt.toISOString()) continue
      const isSame = isSameIssue(issue, known)
      if (!isSame) ids.add(issue.id)
      // A title that was changed here shows nothing.
      if (isSame) same++
      else if (ref.imported_at === null || known.updated_at <= ref.imported_at) other++
    }
  }
  if (ids.size === 0 || other <= same) return { ids: new Set(), problems: [] }
  const value = [...ids].slice(0, 10).join(', ')
  const message = `${ids.size} issues have ids of issues that were imported before, but other titles and times of creation. They are skipped, because they seem to come from another source. Import them into another workspace, or with other ids.`
  return { ids, problems: [{ row: null, field: 'id', value, message }] }
}

interface Here {
  id: string
  title: string
  created_at: string
  updated_at: string
}

const wasImportedBefore = (db: Queryable, { workspaceId, source, startedAt }: Origin) =>
  db.row(sql`
    select 1 from external_refs
    where workspace_id = ${workspaceId} and source = ${source} and kind = 'issue' and created_at < ${startedAt} limit 1`)

function isSameIssue(issue: IssueIndex, here: Here): boolean {
  if (titleHash(here.title) === issue.title) return true
  if (issue.createdAt === null) return false
  const apart = Math.abs(Date.parse(here.created_at) - issue.createdAt)
  return apart <= zones.between && apart % zones.step === 0
}
