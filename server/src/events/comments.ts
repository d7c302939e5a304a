import { commentFields } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { hintsOf, sendHints } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { type PlacedComment, readComments } from './placed-comments.ts'
import { actorOf, type EventActor, type ItemChange, only, record } from './record.ts'

/** None for an internal comment or one on a personal item (event.internal-comment-not-delivered). */
const commentChanges = (
  actor: EventActor | null,
  action: ItemChange['action'],
  comment: PlacedComment,
): ItemChange[] =>
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

/** Records events for shared comments. The others only get hints: internal ones for all members, the rest for the owner. */
export async function recordComments(unit: UnitOfWork<Actor>, action: ItemChange['action'], comments: PlacedComment[]) {
  const { tx, caller } = unit
  await record(
    unit,
    comments.flatMap((comment) => commentChanges(actorOf(caller), action, comment)),
  )
  sendHints(
    tx,
    comments
      .filter(({ internal, personal }) => internal || personal)
      .flatMap((comment) => {
        const { id, target_id: parent_id } = comment
        return hintsOf({ workspace_id: caller.workspaceId, type: 'Comment', id, action, parent_id }, comment)
      }),
  )
}

/** Records `create` for the comments of an item that is no longer personal. */
export async function recordThread(unit: UnitOfWork<Actor>, target: { issueId: string } | { projectId: string }) {
  const comments = await readComments(
    unit.config,
    unit.tx,
    'issueId' in target
      ? sql`c.issue_id = ${target.issueId} order by c.id`
      : sql`c.project_id = ${target.projectId} order by c.id`,
  )
  await record(
    unit,
    comments.flatMap((comment) => commentChanges(comment.author, 'create', comment)),
  )
}
