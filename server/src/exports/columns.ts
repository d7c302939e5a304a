import { limits } from '@baton/protocol'
import { type TSchema, Type } from 'typebox'

/** A table of an archive. */
export interface Table {
  /** Its name in the archive. */
  name: TableName
  /** The table of the database, if it has another name. */
  stored?: string
  /** Begins the id of its rows; absent if they have none. */
  prefix?: string
  columns: Record<string, Column>
  /** How its rows are found: as rows of the workspace, in the order of their key, or as rows of other exported rows. */
  from: { key: string[] } | { parent: TableName; column: string; key: string[] }[]
  /** SQL condition on the row `t`. */
  where?: string
  restored: Restored
}

/**
 * - `insert`  rows become rows of the new workspace, with these values in columns that the archive does not have
 * - `update`  the columns of an existing row are set, for references between rows of one table
 * - `apart`   written by code of its own
 * - `no`      for readers of the archive alone
 */
export type Restored =
  | { as: 'insert'; with?: Record<string, unknown> }
  | { as: 'update' }
  | { as: 'apart' }
  | { as: 'no' }

export interface Column {
  schema: TSchema
  /** SQL in place of the column's name. */
  sql?: string
  /** The table whose row it refers to; `any` for an id whose prefix says so. */
  ref?: TableName | 'any'
  /** Without the row that it refers to, an optional reference becomes null, and a required one drops its row. */
  optional?: true
  /** A list of references; those without their row are left out. */
  many?: true
  /** Its texts can contain ids. */
  prose?: true
}

export type Row = Record<string, unknown>

export const idPattern = (prefix: string) => `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`
const prefixes = {
  users: 'usr',
  teams: 'team',
  labels: 'lbl',
  cycles: 'cyc',
  initiatives: 'ini',
  projects: 'prj',
  milestones: 'mil',
  issues: 'iss',
  issue_changes: 'chg',
  comments: 'cmt',
  agent_sessions: 'sess',
  agent_activities: 'act',
  reviews: 'rev',
  views: 'view',
  issue_templates: 'tpl',
  files: 'fil',
} as const
type Identified = keyof typeof prefixes

export type TableName =
  | Identified
  | 'memberships'
  | 'team_members'
  | 'project_members'
  | 'project_teams'
  | 'project_labels'
  | 'issue_parents'
  | 'issue_codes'
  | 'issue_labels'
  | 'issue_blocks'
  | 'issue_duplicates'
  | 'issue_watchers'
  | 'comment_parents'
  | 'reactions'
  | 'session_changes'
  | 'git_automation'
  | 'external_refs'
  | 'file_links'

export const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()])
export const idOf = (table: Identified) => Type.String({ pattern: idPattern(prefixes[table]) })
export const own = (table: Identified): Column => ({ schema: idOf(table) })
export const to = (table: Identified): Column => ({ schema: idOf(table), ref: table })
export const maybe = (table: Identified): Column => ({ schema: nullable(idOf(table)), ref: table, optional: true })
export const several = (table: Identified, maxItems: number): Column => ({
  schema: Type.Array(idOf(table), { maxItems }),
  ref: table,
  many: true,
})
export const value = (schema: TSchema): Column => ({ schema })
export const prose = (schema: TSchema): Column => ({ schema, prose: true })

export const Short = Type.String({ maxLength: 500 })
export const Name = Type.String({ minLength: 1, maxLength: 255, 'x-name': 'plain' })
export const Long = Type.String({ maxLength: limits.description })
export const Time = Type.String({
  format: 'date-time',
  pattern: '^[12]\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d\\.\\d{3}Z$',
})
export const Flag = Type.Boolean()
export const Count = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })
export const Code = Type.String({ pattern: '^[A-Z][A-Z0-9]{0,9}-[0-9]{1,9}$' })
export const HttpUrl = Type.String({ maxLength: limits.url, pattern: '^https?://[^\\s]+$' })
export const Changed = Type.Union([
  Type.Null(),
  Type.Boolean(),
  Type.Number(),
  Long,
  Type.Array(Short, { maxItems: 10_000 }),
])
