import { type Comment, commentFields } from '@baton/protocol'
import { commentUrlSql } from '../addresses.ts'
import type { Config } from '../config.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { hintsOf, tellLive } from '../live/hint.ts'
import { type EventActor, type Happening, only, record } from './record.ts'

/** A comment, and what one must know of its issue or project to say who may hear of it. */
export interface PlacedComment extends Comment {
  /** Whose personal item it stands on; null where everybody sees it. */
  personalOf: string | null
  personal: boolean
  teamIds: string[]
  author: EventActor | null
}

/** Reads comments with their place. `c` is the comment. */
export const readComments = (config: Config, db: Queryable, condition: Sql): Promise<PlacedComment[]> =>
  db.rows(sql`
    select c.id, c.text, c.author_id, case when c.issue_id is null then 'project' else 'issue' end as target_type,
      coalesce(c.issue_id, c.project_id) as target_id, c.parent_comment_id, c.is_resolved, c.mentioned_user_ids,
      c.edited_at, c.created_at, c.updated_at, c.internal,
      ${commentUrlSql(config)} as url,
      coalesce(i.personal, p.personal) as personal,
      case when i.personal then i.reporter_id when p.personal then p.owner_id end as "personalOf",
      case when i.team_id is not null then array[i.team_id]
        else array(select team_id from project_teams where project_id = p.id order by team_id) end as "teamIds",
      case when u.id is not null then jsonb_build_object('id', u.id, 'name', u.display_name,
        'type', case u.user_kind when 'human' then 'user' else 'application' end) end as author
    from comments c
    left join issues i on i.id = c.issue_id
    left join projects p on p.id = c.project_id
    left join users u on u.id = c.author_id
    where ${condition}`)

/** What others hear of a comment: nothing where it is internal or stands on a personal item (6.5.6). */
const heardOfComment = (actor: EventActor | null, action: Happening['action'], comment: PlacedComment): Happening[] =>
  comment.internal || comment.personal
    ? []
    : [
        {
          type: 'Comment',
          action,
          actor,
          data: only(comment, commentFields),
          url: comment.url,
          teamIds: comment.teamIds,
        },
      ]

/** Records what others hear of comments. The rest is for people: internal ones for all, others for the item's owner. */
export async function recordComments(
  tx: Tx,
  now: Date,
  workspaceId: string,
  actor: EventActor,
  action: Happening['action'],
  comments: PlacedComment[],
) {
  const heard = comments.flatMap((comment) => heardOfComment(actor, action, comment))
  await record(tx, now, workspaceId, heard)
  tellLive(
    tx,
    comments
      .filter(({ internal, personal }) => internal || personal)
      .flatMap((comment) => {
        const { id, target_id: parent_id } = comment
        return hintsOf({ workspace_id: workspaceId, type: 'Comment', id, action, parent_id }, comment)
      }),
  )
}

/** The comments of an item that was personal until now: news to everybody but its owner. */
export async function recordThread(
  tx: Tx,
  now: Date,
  workspaceId: string,
  config: Config,
  target: { issueId: string } | { projectId: string },
) {
  const comments = await readComments(
    config,
    tx,
    'issueId' in target
      ? sql`c.issue_id = ${target.issueId} order by c.id`
      : sql`c.project_id = ${target.projectId} order by c.id`,
  )
  await record(
    tx,
    now,
    workspaceId,
    comments.flatMap((comment) => heardOfComment(comment.author, 'create', comment)),
  )
}

export const withoutPlace = ({
  personal: _,
  personalOf: __,
  teamIds: ___,
  author: ____,
  ...comment
}: PlacedComment): Comment => comment
