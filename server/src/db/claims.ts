import type { Tx } from './database.ts'

/** Columns by which a process holds work. */
const claims: Record<string, string> = {
  deliveries: 'claim_id = null, claim_kind = null, lease_until = null where claim_id is not null',
  endpoints: 'owner = null, owner_until = null, wanted_by = null where owner is not null or wanted_by is not null',
  agent_work: 'claim_id = null, lease_until = null where claim_id is not null',
  a2a_tasks: 'owner = null, owner_until = null where owner is not null',
  automation_runs: 'claim_id = null, lease_until = null where claim_id is not null',
  mails: 'claim_id = null where claim_id is not null',
  imports: 'claim = null, claimed_until = null where claim is not null',
  exports: 'claim_id = null, claimed_until = null where claim_id is not null',
  insight_progress: 'claim_id = null, claimed_until = null where claim_id is not null',
  restores: 'claim_id = null, claimed_until = null where claim_id is not null',
}

/** Makes all held work available. Only for a database that no process works on. */
export async function releaseClaims(tx: Tx): Promise<void> {
  for (const [table, change] of Object.entries(claims)) await tx.script(`update ${table} set ${change}`)
}
