import type { Queryable } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { addDuplicates, setParents } from '../../issues/imported.ts'
import { addBlocks, isAncestor } from '../../issues/queries.ts'
import { lockParents } from '../../issues/update.ts'
import { findRefs, type Origin } from '../refs.ts'
import type { Edge, Problem, Survey } from '../survey.ts'
import { inBatches, isImported, newIssueId, type Phase } from './phase.ts'

export const relations: Phase<Edge> = {
  kind: 'relations',
  total: ({ survey }) => survey.edges.length,
  batches: ({ survey }) => inBatches(survey.edges),
  async plan(pass, db, edges) {
    const { origin, survey } = pass
    const idOf = (position: number) => (survey.issues[position] as Survey['issues'][number]).id
    const outside = edges.flatMap(({ to }) => (typeof to === 'string' ? [to] : []))
    const refs = await findRefs(db, origin, 'issue', [
      ...edges.flatMap(({ from, to }) => (typeof to === 'number' ? [idOf(from), idOf(to)] : [idOf(from)])),
      ...outside,
    ])
    const byCode = await codesOfSource(db, origin, outside)
    const targets = [...new Set([...refs.values()].map((ref) => ref.target_id).concat([...byCode.values()]))]
    const here = new Map(
      (targets.length === 0
        ? []
        : await db.rows<{ id: string; updated_at: string; parent_id: string | null }>(sql`
        select id, updated_at, parent_id from issues where id = any(${targets})`)
      ).map((one) => [one.id, one]),
    )
    const blocks = new Set(
      (targets.length === 0
        ? []
        : await db.rows<{ a: string; b: string }>(sql`
        select blocker_id as a, blocked_id as b from issue_blocks where blocker_id = any(${targets})`)
      ).map(({ a, b }) => `${a} ${b}`),
    )
    const duplicates = new Map(
      (targets.length === 0
        ? []
        : await db.rows<{ a: string; b: string }>(sql`
        select issue_id as a, duplicate_of_id as b from issue_duplicates where issue_id = any(${targets})`)
      ).map(({ a, b }) => [a, b]),
    )
    /** The id here; undefined for an issue that is not imported. */
    const resolve = (end: number | string): string | undefined => {
      if (typeof end === 'string') {
        const id = refs.get(end)?.target_id ?? byCode.get(end)
        return id !== undefined && here.has(id) ? id : undefined
      }
      if (pass.strangers.has(idOf(end))) return undefined
      const ref = refs.get(idOf(end))
      if (ref) return here.has(ref.target_id) ? ref.target_id : undefined
      return isImported(pass, end) ? newIssueId(pass, end) : undefined
    }
    const problems: Problem[] = []
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    const parents: { child: string; parent: string }[] = []
    const newBlocks: [string, string][] = []
    const newDuplicates: { duplicate: string; original: string }[] = []
    for (const { kind, from, to, row, field } of edges) {
      const [first, second] = [resolve(from), resolve(to)]
      const value = typeof to === 'string' ? to : (survey.issues[to]?.key ?? idOf(to))
      const skip = (message: string | null) => {
        counts.skipped++
        if (message) problems.push({ row, field, value, message })
      }
      if (first === undefined) skip(null)
      else if (second === undefined) skip('is not in the import; the relation is skipped')
      else {
        const ref = refs.get(idOf(from))
        const current = here.get(first)
        const changed = ref && current && ref.imported_at !== null && current.updated_at > ref.imported_at
        if (kind === 'parent') {
          if (current?.parent_id === second) counts.unchanged++
          else if (changed) skip(null)
          else if (ref && ref.created_at < origin.startedAt.toISOString() && (await isAncestor(db, first, second)))
            skip('is a descendant of this issue; the parent is skipped')
          else {
            counts.created++
            parents.push({ child: first, parent: second })
          }
        } else if (kind === 'block') {
          if (blocks.has(`${first} ${second}`)) counts.unchanged++
          else if (changed || blocks.has(`${second} ${first}`)) skip(null)
          else {
            counts.created++
            newBlocks.push([first, second])
          }
        } else if (duplicates.get(first) === second) counts.unchanged++
        else if (changed || duplicates.has(first) || duplicates.get(second) === first) skip(null)
        else {
          counts.created++
          newDuplicates.push({ duplicate: first, original: second })
        }
      }
    }
    return {
      counts,
      problems,
      async write(tx, now) {
        if (parents.length > 0) await lockParents(tx, origin.workspaceId)
        await setParents(tx, parents)
        await addBlocks(tx, origin.workspaceId, newBlocks)
        await addDuplicates(tx, origin.workspaceId, now, newDuplicates)
      },
    }
  },
}

/** Issues that an earlier import of the source created, by their code there. */
async function codesOfSource(
  db: Queryable,
  { workspaceId, source }: Origin,
  references: string[],
): Promise<Map<string, string>> {
  const codes = new Map(
    references.filter((one) => /^[A-Za-z][A-Za-z0-9]*-\d{1,9}$/.test(one)).map((one) => [one.toUpperCase(), one]),
  )
  if (codes.size === 0) return new Map()
  const rows = await db.rows<{ code: string; id: string }>(sql`
    select c.code, c.issue_id as id from issue_codes c
    where c.workspace_id = ${workspaceId} and c.code = any(${[...codes.keys()]}) and exists (
      select from external_refs r where r.target_id = c.issue_id and r.source = ${source} and r.workspace_id = ${workspaceId})`)
  return new Map(rows.map(({ code, id }) => [codes.get(code) as string, id]))
}
