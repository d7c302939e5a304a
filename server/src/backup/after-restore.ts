import type { Tx } from '../db/database.ts'
import { deleteSetting } from '../db/settings.ts'

/** Columns by which a process held work when the backup was made. That process is gone. */
const claims: Record<string, string> = {
  deliveries: 'claim_id = null, claim_kind = null, lease_until = null where claim_id is not null',
  endpoints: 'owner = null, owner_until = null, wanted_by = null where owner is not null or wanted_by is not null',
  agent_work: 'claim_id = null, lease_until = null where claim_id is not null',
  a2a_tasks: 'owner = null, owner_until = null where owner is not null',
  mails: 'claim_id = null where claim_id is not null',
  imports: 'claim = null, claimed_until = null where claim is not null',
  exports: 'claim_id = null, claimed_until = null where claim_id is not null',
  insight_progress: 'claim_id = null, claimed_until = null where claim_id is not null',
  restores: 'claim_id = null, claimed_until = null where claim_id is not null',
}

/** Of a disabled endpoint the worker still sends the redeliveries that were requested. */
const held: Record<string, string> = {
  endpoints: `state = 'disabled', state_since = now() where state <> 'disabled'`,
  deliveries: 'redeliver_at = null where redeliver_at is not null',
}

/** Changes that make restored rows the state of a service that has just stopped. */
export async function settleRestored(tx: Tx, { holdDeliveries }: { holdDeliveries: boolean }): Promise<void> {
  for (const [table, change] of Object.entries(claims)) await tx.script(`update ${table} set ${change}`)
  if (holdDeliveries)
    for (const [table, change] of Object.entries(held)) await tx.script(`update ${table} set ${change}`)
  // The next start marks the directory that holds the files here.
  await deleteSetting(tx, 'files_directory', 'marked')
}
