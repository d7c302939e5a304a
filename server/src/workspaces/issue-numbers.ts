import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { invalid } from '../http/errors.ts'

/**
 * Takes the next `count` issue numbers of a team, or of the workspace for issues without a team, and skips those that a
 * code from another tracker has (import.alias). `key` is the key of the team, null without one. The counter stays locked
 * until the transaction ends.
 */
export async function nextIssueNumbers(
  tx: Queryable,
  workspaceId: string,
  teamId: string | null,
  count: number,
): Promise<{ key: string | null; numbers: number[] }> {
  const row = await tx.row<{ key: string | null; last: number; taken: string[] }>(sql`
    with counted as (
      ${
        teamId
          ? sql`
            update teams set last_issue_number = last_issue_number + ${count}
            where workspace_id = ${workspaceId} and id = ${teamId} returning key, last_issue_number as last`
          : sql`
            update workspaces set last_issue_number = last_issue_number + ${count}
            where id = ${workspaceId} returning null::text as key, last_issue_number as last`
      }
    )
    select key, last, array(
      select code from issue_codes where workspace_id = ${workspaceId} and code in (
        select coalesce(key, 'X') || '-' || number from generate_series(last - ${count} + 1, last) as number)
    ) as taken from counted`)
  // The caller has checked the team; it was deleted since.
  if (!row)
    throw teamId ? invalid({ team_id: 'was just deleted' }) : new Error(`workspace ${workspaceId} does not exist`)
  const { key, last, taken } = row
  const numbers = Array.from({ length: count }, (_, index) => last - count + 1 + index)
  if (taken.length === 0) return { key, numbers }
  const free = numbers.filter((number) => !taken.includes(`${key ?? 'X'}-${number}`))
  const more = await nextIssueNumbers(tx, workspaceId, teamId, taken.length)
  return { key, numbers: [...free, ...more.numbers] }
}

/** The last number of a team, and the numbers above `after` that codes with its key have; locks the counter. */
export async function takenNumbers(
  tx: Queryable,
  teamId: string,
  after: number,
  exceptRun: { source: string; startedAt: Date },
) {
  await tx.rows(sql`select 1 from teams where id = ${teamId} for no key update`)
  return tx.row<{ key: string; last: number; taken: number[] }>(sql`
    select t.key, t.last_issue_number as last, array(
      select substr(c.code, length(t.key) + 2)::int from issue_codes c
      where c.workspace_id = t.workspace_id and starts_with(c.code, t.key || '-')
        and substr(c.code, length(t.key) + 2)::int > ${after}
        and not exists (
          select from external_refs r
          where r.target_id = c.issue_id and r.source = ${exceptRun.source} and r.created_at = ${exceptRun.startedAt})
    ) as taken
    from teams t where t.id = ${teamId}`)
}

/** Numbers up to `number` are used from now on. */
export const raiseIssueNumber = (tx: Queryable, teamId: string, number: number) =>
  tx.run(sql`
    update teams set last_issue_number = greatest(last_issue_number, ${number}) where id = ${teamId}`)
