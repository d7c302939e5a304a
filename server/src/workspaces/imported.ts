import { recordAudit } from '../audit/record.ts'
import { sql } from '../db/sql.ts'
import type { Recording } from '../unit-of-work.ts'

/** Creates a team for imported issues. The member who started the import joins it. */
export async function insertImportedTeam(
  unit: Recording,
  { id, name, key }: { id: string; name: string; key: string },
) {
  const { tx, now, caller } = unit
  await tx.run(sql`
    insert into teams (id, workspace_id, name, key, created_at, updated_at)
    values (${id}, ${caller.workspaceId}, ${name}, ${key}, ${now}, ${now})`)
  await tx.run(sql`
    insert into team_members (workspace_id, team_id, user_id, joined_at)
    select workspace_id, ${id}, user_id, ${now} from memberships
    where workspace_id = ${caller.workspaceId} and user_id = ${caller.id}`)
  await recordAudit(unit, { action: 'team.created', subjectId: id, details: { name, key } })
}
