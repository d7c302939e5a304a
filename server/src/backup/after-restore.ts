import { releaseClaims } from '../db/claims.ts'
import type { Tx } from '../db/database.ts'
import { deleteSetting } from '../db/settings.ts'

/** Of a disabled endpoint the worker still sends the redeliveries that were requested. */
const held: Record<string, string> = {
  endpoints: `state = 'disabled', state_since = now() where state <> 'disabled'`,
  deliveries: 'redeliver_at = null where redeliver_at is not null',
}

/** Changes that make restored rows the state of a service that has just stopped. */
export async function settleRestored(tx: Tx, { holdDeliveries }: { holdDeliveries: boolean }): Promise<void> {
  // Processes that held work when the backup was made are gone.
  await releaseClaims(tx)
  if (holdDeliveries)
    for (const [table, change] of Object.entries(held)) await tx.script(`update ${table} set ${change}`)
  // The next start marks the directory that holds the files here.
  await deleteSetting(tx, 'files_directory', 'marked')
}
