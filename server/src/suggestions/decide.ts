import { type Issue, type IssueChange, limits, type Suggestion, type SuggestionDecision } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, invalid } from '../http/errors.ts'
import { lockDuplicates, markLocked } from '../issues/duplicates.ts'
import { findIssueId } from '../issues/read.ts'
import { changeLocked, lockVisibleIssue } from '../issues/update.ts'
import { sendHints } from '../live/hint.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { readSuggestions } from './read.ts'
import { findProblems } from './values.ts'

interface Decided {
  data: Suggestion[]
}

/** Applies all accepted suggestions as one change by the caller, or nothing. */
export async function decideSuggestions(
  ctx: Context,
  caller: Member,
  key: string,
  { accept = [], decline = [] }: SuggestionDecision,
): Promise<Decided> {
  checkChosen(accept, decline)
  const result = await transact(ctx, caller, async (unit): Promise<Decided | { outdated: string[] }> => {
    const { tx, now } = unit
    const { issue, chosen } = await lockChosen(unit, key, accept, decline)
    const accepted = chosen.filter(({ id }) => accept.includes(id))
    refuseSameField(accepted, accept)
    const problems = await findProblems(unit, issue, accepted)
    const outdated = accepted.flatMap(({ id }, index) => (problems[index] ? [id] : []))
    if (outdated.length > 0) {
      await tx.run(sql`
        update suggestions set state = 'outdated', decided_at = ${now} where id = any(${outdated})`)
      sendSuggestionHints(unit, chosen)
      return { outdated }
    }
    await tx.run(sql`
      update suggestions set state = case when id = any(${accept}) then 'accepted' else 'declined' end,
        decided_by = ${caller.id}, decided_at = ${now}
      where id = any(${[...accept, ...decline]})`)
    await apply(unit, issue, accepted)
    sendSuggestionHints(unit, chosen)
    return { data: await readChosen(tx, issue.id, [...accept, ...decline]) }
  })
  // After the commit: they stay outdated.
  if ('outdated' in result) throw new ApiError('SUGGESTION_OUTDATED', { suggestion_ids: result.outdated })
  return result
}

function checkChosen(accept: string[], decline: string[]) {
  const count = accept.length + decline.length
  if (count < 1 || count > limits.suggestionsAtOnce) {
    throw invalid({ accept: `must have 1 to ${limits.suggestionsAtOnce} ids together with decline` })
  }
  const both = decline.findIndex((id) => accept.includes(id))
  if (both >= 0) throw invalid({ [`decline.${both}`]: 'must not be accepted too' })
}

const readChosen = (db: Queryable, issueId: string, ids: string[]) =>
  readSuggestions(db, sql`s.issue_id = ${issueId} and s.id = any(${ids}) order by s.id`)

/** Locks the issue, with the original of a duplicate, so that of two people at once the second finds what was decided. */
async function lockChosen(unit: UnitOfWork<Member>, key: string, accept: string[], decline: string[]) {
  const { tx, caller } = unit
  const issueId = await findIssueId(tx, caller, key)
  const originals = (await readChosen(tx, issueId, accept)).flatMap(({ field, value }) =>
    field === 'duplicate_of' ? [value] : [],
  )
  if (originals.length > 0) await lockDuplicates(tx, caller.workspaceId)
  const issue = await lockVisibleIssue(unit, issueId, originals)
  const chosen = await readChosen(tx, issueId, [...accept, ...decline])
  const known = new Set(chosen.map(({ id }) => id))
  for (const [name, ids] of Object.entries({ accept, decline })) {
    const missing = ids.findIndex((id) => !known.has(id))
    if (missing >= 0) throw invalid({ [`${name}.${missing}`]: 'is not a suggestion for this issue' })
  }
  const decided = chosen.find(({ state }) => state !== 'open')
  if (decided) throw new ApiError('SUGGESTION_DECIDED', { suggestion_id: decided.id, state: decided.state })
  return { issue, chosen }
}

/** Agents can suggest different values for a field. */
function refuseSameField(accepted: Suggestion[], accept: string[]) {
  for (const { id, field } of accepted) {
    if (field !== 'label' && accepted.some((other) => other.id < id && other.field === field)) {
      throw invalid({ [`accept.${accept.indexOf(id)}`]: `must not be a second suggestion for the field ${field}` })
    }
  }
}

const columns = {
  priority: 'priority',
  type: 'type',
  assignee: 'assignee_id',
  project: 'project_id',
} as const

async function apply(unit: UnitOfWork<Member>, issue: Issue, accepted: Suggestion[]) {
  if (accepted.length === 0) return
  const labels = accepted.flatMap(({ field, value }) => (field === 'label' ? [value] : []))
  const label_ids = [...new Set([...issue.label_ids, ...labels])]
  if (label_ids.length > limits.idsInArray) {
    throw invalid({ accept: `must leave at most ${limits.idsInArray} labels` })
  }
  const fields = accepted.flatMap(({ field, value }) =>
    field in columns ? [[columns[field as keyof typeof columns], value]] : [],
  )
  const change: IssueChange = { ...Object.fromEntries(fields), ...(labels.length > 0 && { label_ids }) }
  const original = accepted.find(({ field }) => field === 'duplicate_of')
  await (original ? markLocked(unit, issue, original.value, change) : changeLocked(unit, issue, change))
}

/** Lists of suggestions are read again with the session that made them. */
function sendSuggestionHints({ tx, caller }: UnitOfWork<Member>, suggestions: Suggestion[]) {
  const sessions = new Map(suggestions.map(({ session_id, issue_id }) => [session_id, issue_id]))
  sendHints(
    tx,
    [...sessions].map(([id, parent_id]) => ({
      workspace_id: caller.workspaceId,
      type: 'AgentSession',
      id,
      action: 'update',
      parent_id,
    })),
  )
}
