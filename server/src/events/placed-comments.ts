import type { Comment } from '@baton/protocol'
import { commentUrlSql } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Queryable } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { EventActor } from './record.ts'

/** A comment with the fields of its issue or project that decide who may see it. */
export interface PlacedComment extends Comment {
  /** Owner of the personal item it belongs to; null for a shared item. */
  personalOf: string | null
  personal: boolean
  teamIds: string[]
  author: EventActor | null
  /** Its issue or project; a project has no code. */
  target: { code: string | null; title: string }
}

/** In `condition`, `c` is the comment. */
export const readComments = (config: Config, db: Queryable, condition: Sql): Promise<PlacedComment[]> =>
  db.rows(sql`
    select c.id, c.text, c.author_id, case when c.issue_id is null then 'project' else 'issue' end as target_type,
      coalesce(c.issue_id, c.project_id) as target_id, c.parent_comment_id, c.is_resolved, c.mentioned_user_ids,
      c.edited_at, c.created_at, c.updated_at, c.internal, c.automation_id,
      ${commentUrlSql(config)} as url,
      coalesce(i.personal, p.personal) as personal,
      case when i.personal then i.reporter_id when p.personal then p.owner_id end as "personalOf",
      case when i.team_id is not null then array[i.team_id]
        else array(select team_id from project_teams where project_id = p.id order by team_id) end as "teamIds",
      jsonb_build_object('code', i.code, 'title', coalesce(i.title, p.title)) as target,
      case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name,
        'type', case u.user_kind when 'human' then 'user' else 'application' end) end as author
    from comments c
    left join issues i on i.id = c.issue_id
    left join projects p on p.id = c.project_id
    left join users u on u.id = c.author_id
    where ${condition}`)

export const withoutPlace = ({
  personal: _,
  personalOf: __,
  teamIds: ___,
  author: ____,
  target: _____,
  ...comment
}: PlacedComment): Comment => comment
