import { type Issue, type IssueChange, issueFields } from '@baton/protocol'
import { isDuplicate, type Queryable } from '../db/database.ts'
import { insertRows, json, sql } from '../db/sql.ts'
import { nextIssueNumbers } from '../workspaces/issue-numbers.ts'

/** An issue without its URL, which is derived from its code. */
export type StoredIssue = Omit<Issue, 'url'>

export const issueColumns = sql`
  i.id, i.code, i.title, i.description, i.status, i.priority, i.type, i.team_id, i.project_id, i.milestone_id,
  i.cycle_id, i.parent_id, i.reporter_id, i.assignee_id, i.delegate_id, i.delegation_revision,
  array(select label_id from issue_labels where issue_id = i.id order by label_id) as label_ids,
  array(select blocked_id from issue_blocks where blocker_id = i.id order by blocked_id) as blocks_ids,
  array(select blocker_id from issue_blocks where blocked_id = i.id order by blocker_id) as blocked_by_ids,
  i.time_estimate, i.due_date, i.completed_at, i.created_at, i.updated_at, i.personal, i.sort_order`

/** Matches an issue by its id, or by a current or previous code in any letter case; codes are stored in upper case. */
export const withKey = (workspaceId: string, key: string) =>
  key.startsWith('iss_')
    ? sql`i.workspace_id = ${workspaceId} and i.id = ${key}`
    : sql`i.id = (select issue_id from issue_codes where workspace_id = ${workspaceId} and code = ${key.toUpperCase()})`

/**
 * Locks issues and reads them. They are locked in the order of their ids, before projects and counters, so that verbs do
 * not deadlock. A second statement reads the relations: the one that waits for the lock would read them as they were
 * before the wait.
 */
export async function lockIssues(tx: Queryable, workspaceId: string, ids: string[]): Promise<StoredIssue[]> {
  if (ids.length === 0) return []
  const condition = sql`i.workspace_id = ${workspaceId} and i.id = any(${ids})`
  await tx.rows(sql`select 1 from issues i where ${condition} order by i.id for update`)
  return tx.rows(sql`select ${issueColumns} from issues i where ${condition} order by i.id`)
}

/** Ids of the issues that a request body refers to. */
export const referencedIssueIds = ({ parent_id, blocks_ids, blocked_by_ids }: IssueChange): string[] => [
  ...(parent_id ? [parent_id] : []),
  ...(blocks_ids ?? []),
  ...(blocked_by_ids ?? []),
]

/** Prevents the deletion of these projects, and making them personal, until the transaction ends. */
export async function lockProjects(tx: Queryable, workspaceId: string, issues: Pick<StoredIssue, 'project_id'>[]) {
  const ids = issues.flatMap(({ project_id }) => project_id ?? [])
  if (ids.length === 0) return
  await tx.rows(sql`
    select 1 from projects where workspace_id = ${workspaceId} and id = any(${ids}) order by id for key share`)
}

/** The next `count` codes of a team, or of the issues without a team (issue.teamless-code). */
export async function nextCodes(tx: Queryable, workspaceId: string, teamId: string | null, count: number) {
  const { key, numbers } = await nextIssueNumbers(tx, workspaceId, teamId, count)
  return numbers.map((number) => `${key ?? 'X'}-${number}`)
}

/** Columns that an update can set. */
const changeable = sql`
  code, title, description, status, priority, type, team_id, project_id, milestone_id, cycle_id, parent_id, assignee_id,
  delegate_id, delegation_revision, time_estimate, due_date, completed_at, personal, sort_order, updated_at`

export async function insertIssues(tx: Queryable, workspaceId: string, issues: StoredIssue[]) {
  const rows = issues.map((issue) => ({ ...issue, workspace_id: workspaceId }))
  await tx.run(insertRows(sql`issues`, sql`id, workspace_id, reporter_id, created_at, ${changeable}`, rows))
  await insertCodes(tx, workspaceId, issues)
  await addLabels(tx, workspaceId, issues)
}

/** The fields whose change is a change of the issue; `sort_order` is not among them. */
export const issueFieldsAndPersonal = [...issueFields, 'personal'] as const

/** Writes the changed columns of many issues. */
export async function changeRows(
  tx: Queryable,
  pairs: readonly (readonly [before: StoredIssue, after: StoredIssue])[],
) {
  const rows = pairs.map(([before, after]) => ({ id: after.id, ...differences(before, after) }))
  await tx.run(sql`
    update issues i set (${changeable}) = (select ${changeable} from jsonb_populate_record(i, n.changed))
    from jsonb_array_elements(${json(rows)}) as n (changed) where i.id = n.changed ->> 'id'`)
}

const differences = (before: StoredIssue, after: StoredIssue) =>
  Object.fromEntries(Object.entries(after).filter(([field, value]) => value !== before[field as keyof StoredIssue]))

export async function updateIssueRow(tx: Queryable, issue: StoredIssue) {
  await tx.run(sql`
    update issues i set (${changeable}) = (select ${changeable} from jsonb_populate_record(i, ${json(issue)}))
    where id = ${issue.id}`)
}

export async function insertCodes(tx: Queryable, workspaceId: string, issues: Pick<StoredIssue, 'id' | 'code'>[]) {
  try {
    await tx.run(sql`
      insert into issue_codes (workspace_id, code, issue_id)
      select ${workspaceId}, code, id from unnest(${issues.map(({ code }) => code)}::text[],
        ${issues.map(({ id }) => id)}::text[]) as n (code, id)`)
  } catch (error) {
    if (!isDuplicate(error, 'issue_codes_pkey')) throw error
    // An import gave the code to another issue while this transaction waited for the counter: the retry skips it.
    throw Object.assign(new Error('the code was taken meanwhile', { cause: error }), { code: '40001' })
  }
}

export async function replaceLabels(tx: Queryable, workspaceId: string, issue: StoredIssue) {
  await tx.run(sql`delete from issue_labels where issue_id = ${issue.id} and label_id <> all(${issue.label_ids})`)
  await addLabels(tx, workspaceId, [issue])
}

/** Writes the changed labels of many issues. */
export async function changeLabels(
  tx: Queryable,
  workspaceId: string,
  pairs: readonly (readonly [before: StoredIssue, after: StoredIssue])[],
) {
  const removed = pairs.flatMap(([before, { id, label_ids }]) =>
    before.label_ids.filter((label) => !label_ids.includes(label)).map((label) => [id, label] as const),
  )
  if (removed.length > 0) {
    await tx.run(sql`
      delete from issue_labels l
      using unnest(${removed.map(([id]) => id)}::text[], ${removed.map(([, label]) => label)}::text[])
        as n (issue_id, label_id)
      where l.issue_id = n.issue_id and l.label_id = n.label_id`)
  }
  const changed = pairs.filter(([before, after]) => String(before.label_ids) !== String(after.label_ids))
  await addLabels(
    tx,
    workspaceId,
    changed.map(([, after]) => after),
  )
}

async function addLabels(tx: Queryable, workspaceId: string, issues: Pick<StoredIssue, 'id' | 'label_ids'>[]) {
  const pairs = issues.flatMap(({ id, label_ids }) => label_ids.map((label) => [id, label] as const))
  if (pairs.length === 0) return
  await tx.run(sql`
    insert into issue_labels (workspace_id, issue_id, label_id)
    select ${workspaceId}, issue_id, label_id
    from unnest(${pairs.map(([id]) => id)}::text[], ${pairs.map(([, label]) => label)}::text[]) as n (issue_id, label_id)
    on conflict do nothing`)
}

export type Block = readonly [blocker: string, blocked: string]

export const blocksOf = ({
  id,
  blocks_ids,
  blocked_by_ids,
}: Pick<StoredIssue, 'id' | 'blocks_ids' | 'blocked_by_ids'>): Block[] => [
  ...blocks_ids.map((other) => [id, other] as const),
  ...blocked_by_ids.map((other) => [other, id] as const),
]

export async function addBlocks(tx: Queryable, workspaceId: string, blocks: Block[]) {
  if (blocks.length === 0) return
  await tx.run(sql`
    insert into issue_blocks (workspace_id, blocker_id, blocked_id)
    select ${workspaceId}, blocker_id, blocked_id
    from unnest(${blocks.map(([id]) => id)}::text[], ${blocks.map(([, id]) => id)}::text[]) as n (blocker_id, blocked_id)
    on conflict do nothing`)
}

export async function removeBlocks(tx: Queryable, blocks: Block[]) {
  if (blocks.length === 0) return
  await tx.run(sql`
    delete from issue_blocks b using unnest(${blocks.map(([id]) => id)}::text[], ${blocks.map(([, id]) => id)}::text[])
      as n (blocker_id, blocked_id)
    where b.blocker_id = n.blocker_id and b.blocked_id = n.blocked_id`)
}

/** Removes a project and its milestones from all issues except the personal issues of the project's owner. */
export const removeProjectFromIssues = (tx: Queryable, projectId: string, ownerId: string) =>
  tx.run(sql`
    update issues set project_id = null, milestone_id = null
    where project_id = ${projectId} and not (personal and reporter_id = ${ownerId})`)

/** Updates `updated_at` of issues whose relations were changed by an update of another issue. */
export const touchIssues = (tx: Queryable, issues: Pick<StoredIssue, 'id' | 'updated_at'>[]) =>
  tx.run(sql`
    update issues set updated_at = n.updated_at::timestamptz
    from unnest(${issues.map(({ id }) => id)}::text[], ${issues.map(({ updated_at }) => updated_at)}::text[])
      as n (id, updated_at)
    where issues.id = n.id`)

/** Whether `issueId` is `parentId` or one of its ancestors. */
export const isAncestor = async (tx: Queryable, issueId: string, parentId: string) =>
  (await tx.row(sql`
    with recursive above as (
      select id, parent_id from issues where id = ${parentId}
      union select i.id, i.parent_id from issues i join above a on i.id = a.parent_id
    ) select 1 from above where id = ${issueId}`)) !== undefined
