import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { issueInReach, outOfReach, projectInReach } from '../installations/reach.ts'
import { covers, teamCovered } from '../workspaces/coverage.ts'

/** The kinds of items that an issue or project can refer to by id. */
export type Kind = 'team' | 'person' | 'project' | 'milestone' | 'cycle' | 'initiative' | 'label' | 'issue'

export interface Reference {
  kind: Kind
  id: string
  /** The project of a milestone, the team of a cycle. */
  of: string | null
  /** Owner of a personal item; null for a shared one. */
  personalOf: string | null
}

export type ReferenceIds = Partial<Record<Kind, Iterable<string>>>

/**
 * The items that a caller referred to by id and can access, found with one query for all kinds. Teams are found even
 * without access, because referring to such a team has its own error (`refuseUncoveredTeam`). People are locked: a member
 * who leaves meanwhile gets no new issue.
 */
export class References {
  readonly #found: Map<string, Reference>

  private constructor(found: Reference[]) {
    this.#found = new Map(found.map((reference) => [`${reference.kind} ${reference.id}`, reference]))
  }

  get(kind: Kind, id: string): Reference | undefined {
    return this.#found.get(`${kind} ${id}`)
  }

  /** Refuses a team that exists and is not covered. An unknown team is a validation error of its field instead. */
  refuseUncoveredTeam(caller: Actor, teamId: string | null) {
    if (teamId && !covers(caller, teamId) && this.get('team', teamId)) throw outOfReach(caller)
  }

  static async find(db: Queryable, caller: Actor, idsByKind: ReferenceIds): Promise<References> {
    const { workspaceId } = caller
    const ids = (kind: Kind) => [...new Set(idsByKind[kind] ?? [])]
    const all = Object.fromEntries(kinds.map((kind) => [kind, ids(kind)])) as Record<Kind, string[]>
    if (kinds.every((kind) => all[kind].length === 0)) return new References([])
    return new References(
      await db.rows<Reference>(sql`
        select 'team' as kind, id, null as of, null as "personalOf"
          from teams where workspace_id = ${workspaceId} and id = any(${all.team})
        union all select 'person', user_id, null, null from (
          select user_id from memberships where workspace_id = ${workspaceId} and user_id = any(${all.person})
          for key share) m
        union all select 'project', p.id, null, case when p.personal then p.owner_id end
          from projects p where p.workspace_id = ${workspaceId} and p.id = any(${all.project})
            and ${projectInReach(caller)}
        union all select 'milestone', m.id, m.project_id, null
          from milestones m join projects p on p.id = m.project_id
          where m.workspace_id = ${workspaceId} and m.id = any(${all.milestone}) and ${projectInReach(caller)}
        union all select 'cycle', id, team_id, null
          from cycles where workspace_id = ${workspaceId} and id = any(${all.cycle})
            and ${teamCovered(caller, sql`team_id`)}
        union all select 'initiative', id, null, null
          from initiatives where workspace_id = ${workspaceId} and id = any(${all.initiative})
        union all select 'label', id, null, null
          from labels where workspace_id = ${workspaceId} and id = any(${all.label})
        union all select 'issue', i.id, null, case when i.personal then i.reporter_id end
          from issues i where i.workspace_id = ${workspaceId} and i.id = any(${all.issue})
            and ${issueInReach(caller)}`),
    )
  }
}

const kinds: Kind[] = ['team', 'person', 'project', 'milestone', 'cycle', 'initiative', 'label', 'issue']
