import { commentFields } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import type { Actor } from '../http/caller.ts'
import { hintsOf, tellLive } from '../live/hint.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { type PlacedComment, readComments } from './placed-comments.ts'
import { actorOf, type EventActor, type Happening, only, record } from './record.ts'

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
export async function recordComments(unit: UnitOfWork<Actor>, action: Happening['action'], comments: PlacedComment[]) {
  const { tx, caller } = unit
  await record(
    unit,
    comments.flatMap((comment) => heardOfComment(actorOf(caller), action, comment)),
  )
  tellLive(
    tx,
    comments
      .filter(({ internal, personal }) => internal || personal)
      .flatMap((comment) => {
        const { id, target_id: parent_id } = comment
        return hintsOf({ workspace_id: caller.workspaceId, type: 'Comment', id, action, parent_id }, comment)
      }),
  )
}

/** The comments of an item that was personal until now: news to everybody but its owner. */
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
    comments.flatMap((comment) => heardOfComment(comment.author, 'create', comment)),
  )
}
