import { sql } from '../db/sql.ts'

/** The user `u` as whoever did something; null when the account is gone. */
export const nameOfUser = sql`case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name) end`
