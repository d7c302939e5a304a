import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** The kinds of thing that an issue or project can name by id. */
export type Kind = 'team' | 'person' | 'project' | 'milestone' | 'cycle' | 'initiative' | 'label' | 'issue'

export interface Reference {
  kind: Kind
  id: string
  /** The project of a milestone, the team of a cycle. */
  of: string | null
  /** Whose personal item it is; null for what everybody sees. */
  personalOf: string | null
}

export type Wanted = Partial<Record<Kind, Iterable<string>>>

/** What of the ids that a caller sent exists in the workspace. One query, however many ids of however many kinds. */
export class References {
  readonly #found: Map<string, Reference>

  private constructor(found: Reference[]) {
    this.#found = new Map(found.map((reference) => [`${reference.kind} ${reference.id}`, reference]))
  }

  get(kind: Kind, id: string): Reference | undefined {
    return this.#found.get(`${kind} ${id}`)
  }

  static async find(db: Queryable, workspaceId: string, wanted: Wanted): Promise<References> {
    const ids = (kind: Kind) => [...new Set(wanted[kind] ?? [])]
    const all = Object.fromEntries(kinds.map((kind) => [kind, ids(kind)])) as Record<Kind, string[]>
    if (kinds.every((kind) => all[kind].length === 0)) return new References([])
    return new References(
      await db.rows<Reference>(sql`
        select 'team' as kind, id, null as of, null as "personalOf"
          from teams where workspace_id = ${workspaceId} and id = any(${all.team})
        union all select 'person', user_id, null, null
          from memberships where workspace_id = ${workspaceId} and user_id = any(${all.person})
        union all select 'project', id, null, case when personal then owner_id end
          from projects where workspace_id = ${workspaceId} and id = any(${all.project})
        union all select 'milestone', id, project_id, null
          from milestones where workspace_id = ${workspaceId} and id = any(${all.milestone})
        union all select 'cycle', id, team_id, null
          from cycles where workspace_id = ${workspaceId} and id = any(${all.cycle})
        union all select 'initiative', id, null, null
          from initiatives where workspace_id = ${workspaceId} and id = any(${all.initiative})
        union all select 'label', id, null, null
          from labels where workspace_id = ${workspaceId} and id = any(${all.label})
        union all select 'issue', id, null, case when personal then reporter_id end
          from issues where workspace_id = ${workspaceId} and id = any(${all.issue})`),
    )
  }
}

const kinds: Kind[] = ['team', 'person', 'project', 'milestone', 'cycle', 'initiative', 'label', 'issue']
