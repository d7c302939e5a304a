import type { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { tellOwner } from '../login/security-mails.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { recordInWorkspacesOf } from './audit.ts'

/** The break-glass account signed in with its password: managers of its workspaces can see it, and their owners are told. */
export const recordBreakGlass = (keys: Keyring) => async (unit: UnitOfWork, user: { id: string; email: string }) => {
  const places = await recordInWorkspacesOf(unit, user.id, { action: 'login.break_glass', subjectId: user.id })
  const owners = await unit.tx.rows<{ id: string }>(sql`
    select distinct user_id as id from memberships where workspace_id = any(${places}) and role = 'owner'`)
  for (const { id } of owners) await tellOwner(unit, keys, id, 'break_glass', { name: user.email })
}
