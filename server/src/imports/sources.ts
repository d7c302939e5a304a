import { type IssueSource, programLimits } from '@baton/protocol'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Where an issue that the caller can access was imported from. */
export const sourcesOf = async (
  db: Queryable,
  workspaceId: string,
  issueId: string,
): Promise<{ sources: IssueSource[] }> => ({
  sources: await db.rows<IssueSource>(sql`
    select source, key, url from external_refs
    where target_id = ${issueId} and workspace_id = ${workspaceId} and kind = 'issue'
    order by created_at, source limit ${programLimits.sourcesListed}`),
})
