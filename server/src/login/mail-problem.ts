import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** Stores why the user's address does not take mail, unless the user has another address by now. */
export const setMailProblem = (db: Db, userId: string, address: string, problem: string) =>
  db.run(sql`update users set mail_problem = ${problem} where id = ${userId} and email = ${address}`)
