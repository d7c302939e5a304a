import { sql } from '../db/sql.ts'

/** The role of the membership `m` in the workspace `w`. Once a workspace is being purged, none has access to it. */
export const roleOf = sql`case when w.purged_since is null then m.role end as role`

/** export.deletion-read-only */
export const isPendingDeletion = sql`w.deletion_at is not null as "pendingDeletion"`
