import type { Queryable } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { addAliases, insertImported, updateImported } from '../../issues/imported.ts'
import type { StoredIssue } from '../../issues/queries.ts'
import { readAttachments } from '../attachments.ts'
import { type PlannedIssue, planIssue } from '../plan.ts'
import type { SourceIssue } from '../record.ts'
import { findRefs, type NewRef, writeRefs } from '../refs.ts'
import { codeOf, type Problem, type Survey } from '../survey.ts'
import { isImported, newIssueId, type Pass, type Phase, recordsInBatches } from './phase.ts'

interface Existing {
  id: string
  updated_at: string
}

type Item = SourceIssue & { index: number; plan?: ReturnType<typeof planIssue> }

export const issues: Phase<Item> = {
  kind: 'issues',
  total: ({ survey }) => survey.issues.length,
  batches: plannedAhead,
  async plan(pass, db, items) {
    const { origin, mapping, targets, survey, numbers } = pass
    const problems: Problem[] = []
    const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0 }
    // This run has created none of the batch yet: a batch commits as a whole, with the position behind it.
    const earlier = items.flatMap(({ id }) => (pass.isEarlier(id) ? [id] : []))
    const refs = await findRefs(db, origin, 'issue', earlier)
    const known = [...refs.values()].map((ref) => ref.target_id)
    const existing = new Map(
      (known.length === 0
        ? []
        : await db.rows<Existing>(sql`select id, updated_at from issues where id = any(${known})`)
      ).map((one) => [one.id, one]),
    )
    const attachments = await readAttachments(
      db,
      pass,
      items.map(({ id }) => id),
    )
    const oldCodes = await takenCodes(db, origin.workspaceId, items)
    const created: { row: StoredIssue; ref: NewRef; alias: string | null }[] = []
    const updated: { change: PlannedIssue & { id: string; unchangedSince: string }; ref: NewRef }[] = []
    for (const issue of items) {
      const position = survey.position(issue.id) as number
      // The second one of two with the same id was reported by the survey.
      if (survey.issues[position]?.row !== issue.row || !isImported(pass, position)) {
        counts.skipped++
        continue
      }
      const plan = issue.plan ?? planIssue(issue, mapping, targets, attachments.get(issue.id) ?? [], pass.createdAt)
      const ref = refs.get(issue.id)
      const newRef = {
        external_id: issue.id,
        key: issue.key,
        url: issue.url,
        hash: plan.hash,
        imported_at: plan.item.updated_at,
      }
      if (ref) {
        const here = existing.get(ref.target_id)
        const outcome = !here
          ? 'deleted'
          : ref.hash !== null && plan.hash.equals(ref.hash)
            ? 'unchanged'
            : ref.imported_at !== null && here.updated_at > ref.imported_at
              ? 'changed'
              : 'updated'
        if (outcome === 'unchanged') counts.unchanged++
        else if (outcome === 'updated') {
          counts.updated++
          problems.push(...plan.problems)
          updated.push({
            change: { ...plan.item, id: ref.target_id, unchangedSince: ref.imported_at ?? '' },
            ref: { ...newRef, target_id: ref.target_id },
          })
        } else {
          counts.skipped++
          const message =
            outcome === 'deleted'
              ? 'was imported before and deleted here; it is skipped'
              : 'was changed here since it was imported; it is skipped'
          problems.push({ row: issue.row, field: null, value: issue.key ?? issue.id, message })
        }
        continue
      }
      counts.created++
      problems.push(...plan.problems)
      const id = newIssueId(pass, position)
      const { code, alias } = codesOf(pass, position, plan.item.team_id as string)
      if (alias && oldCodes.has(alias)) {
        problems.push({
          row: issue.row,
          field: 'key',
          value: alias,
          message: 'is the code of another issue here; it does not find the imported one',
        })
      }
      created.push({
        row: storedIssue(id, code, plan.item),
        ref: { ...newRef, target_id: id },
        alias: alias && !oldCodes.has(alias) ? alias : null,
      })
    }
    return {
      counts,
      problems,
      async write(tx) {
        if (numbers === null) throw new Error('a run needs numbers')
        if (created.length > 0) {
          await insertImported(
            tx,
            origin.workspaceId,
            created.map(({ row }) => row),
          )
          await addAliases(
            tx,
            origin.workspaceId,
            created.flatMap(({ row: { id, code }, alias }) => (alias && alias !== code ? [{ code: alias, id }] : [])),
          )
        }
        const times = await updateImported(
          tx,
          origin.workspaceId,
          updated.map(({ change: { reporter_id: _, created_at: __, ...change } }) => change),
        )
        const refsOfUpdated = updated.flatMap(({ ref }) =>
          times.has(ref.target_id) ? [{ ...ref, imported_at: times.get(ref.target_id) ?? null }] : [],
        )
        await writeRefs(tx, origin, 'issue', [...created.map(({ ref }) => ref), ...refsOfUpdated])
      },
    }
  },
}

/** While the batch before is written, each issue is planned, unless that needs the attachments in the database. */
async function* plannedAhead(pass: Pass): AsyncGenerator<Item[]> {
  const { mapping, targets, survey, createdAt } = pass
  for await (const batch of recordsInBatches(pass, 'issue')) {
    yield survey.attachments > 0
      ? batch
      : batch.map((issue) => ({ ...issue, plan: planIssue(issue, mapping, targets, [], createdAt) }))
  }
}

/** Codes of the source that issues here have. */
async function takenCodes(db: Queryable, workspaceId: string, items: readonly SourceIssue[]): Promise<Set<string>> {
  const codes = items.flatMap((issue) => (codeOf(issue)?.prefix ? [(issue.key as string).toUpperCase()] : []))
  if (codes.length === 0) return new Set()
  const rows = await db.rows<{ code: string }>(sql`
    select code from issue_codes where workspace_id = ${workspaceId} and code = any(${codes})`)
  return new Set(rows.map(({ code }) => code))
}

function codesOf(
  { survey, teams, numbers }: Pass,
  position: number,
  teamId: string,
): { code: string; alias: string | null } {
  const issue = survey.issues[position] as Survey['issues'][number]
  const alias = codeOf(issue)?.prefix ? (issue.key as string).toUpperCase() : null
  return { code: `${teams.get(teamId)?.key ?? ''}-${numbers?.[position] ?? 0}`, alias }
}

const storedIssue = (id: string, code: string, plan: PlannedIssue): StoredIssue => ({
  id,
  code,
  parent_id: null,
  delegate_id: null,
  delegation_revision: 0,
  blocks_ids: [],
  blocked_by_ids: [],
  personal: false,
  sort_order: Date.parse(plan.created_at),
  ...plan,
})
