import { sql } from '../db/sql.ts'

/** The user `u` as `{id, name}`; null when the account was deleted. */
export const nameOfUser = sql`case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name) end`
