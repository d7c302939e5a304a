import { Type } from 'typebox'
import { Count, idPattern, Long, Name, Time } from './columns.ts'
import { tables } from './contents.ts'

export const formatName = 'baton-workspace'
export const formatVersion = 1
/** Rows of one part. */
export const partRows = 1000

export const Manifest = Type.Object(
  {
    format: Type.Literal(formatName),
    version: Type.Literal(formatVersion),
    created_at: Time,
    workspace: Type.Object(
      {
        id: Type.String({ pattern: idPattern('wsp') }),
        name: Name,
        guidance: Long,
        last_issue_number: Count,
        created_at: Time,
        updated_at: Time,
      },
      { additionalProperties: false },
    ),
    /** Rows of each table. */
    rows: Type.Object(Object.fromEntries(tables.map(({ name }) => [name, Count])), { additionalProperties: false }),
    files: Type.Object({ count: Count, bytes: Type.Integer({ minimum: 0 }) }, { additionalProperties: false }),
    /** Items of one person, which are not in the archive. */
    excluded: Type.Object(
      { personal_issues: Count, personal_projects: Count, private_views: Count },
      { additionalProperties: false },
    ),
    /** References to items that are not in the archive, and files whose bytes could not be read. */
    dropped_references: Count,
    missing_files: Count,
  },
  { additionalProperties: false },
)
export interface Manifest {
  format: typeof formatName
  version: typeof formatVersion
  created_at: string
  workspace: {
    id: string
    name: string
    guidance: string
    last_issue_number: number
    created_at: string
    updated_at: string
  }
  rows: Record<string, number>
  files: { count: number; bytes: number }
  excluded: { personal_issues: number; personal_projects: number; private_views: number }
  dropped_references: number
  missing_files: number
}
