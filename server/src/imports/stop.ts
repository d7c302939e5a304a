import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Asks the workers to stop the imports of the workspace that are read or run; each stops after its batch. */
export const cancelImports = (tx: Tx, workspaceId: string) =>
  tx.run(sql`
    update imports set cancel = true where workspace_id = ${workspaceId} and state in ('reading', 'running')`)
