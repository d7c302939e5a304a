import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, paging, Timestamp } from './common.ts'
import { limits, programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ids, OptionalId, OptionalRef, Ref } from './tracker.ts'

export const CommentTarget = Type.Enum(['issue', 'project'])
export type CommentTarget = Static<typeof CommentTarget>

const Text = Type.String({ minLength: 1, maxLength: limits.comment })

/** The fields in events. */
const commentData = {
  id: id('cmt'),
  text: Type.String(),
  author_id: OptionalId,
  target_type: CommentTarget,
  target_id: Type.String(),
  parent_comment_id: OptionalId,
  is_resolved: Type.Boolean(),
  mentioned_user_ids: Ids,
  edited_at: nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const CommentData = Type.Object(commentData, closed)
export type CommentData = Static<typeof CommentData>
export const commentFields = Object.keys(commentData) as (keyof CommentData)[]

export const Comment = Type.Object(
  {
    ...commentData,
    url: Type.String(),
    internal: Type.Boolean(),
    /** The automation that made it for its author. */
    automation_id: nullable(id('aut')),
  },
  { ...closed, title: 'Comment' },
)
export type Comment = Static<typeof Comment>

export const NewComment = Type.Object(
  {
    target_type: CommentTarget,
    target_id: Ref,
    text: Text,
    parent_comment_id: Type.Optional(OptionalRef),
    internal: Type.Optional(Type.Boolean()),
  },
  closed,
)
export type NewComment = Static<typeof NewComment>

export const CommentChange = Type.Partial(Type.Object({ text: Text, is_resolved: Type.Boolean() }), closed)
export type CommentChange = Static<typeof CommentChange>

/** A comment with the code and title of its issue, or the title of its project. */
export const FoundComment = Type.Object(
  {
    ...Comment.properties,
    target: Type.Object({ code: nullable(Type.String()), title: Type.String() }, closed),
  },
  { ...closed, title: 'FoundComment' },
)
export type FoundComment = Static<typeof FoundComment>

export const reactionNames = [
  'thumbs_up',
  'thumbs_down',
  'heart',
  'celebrate',
  'laugh',
  'confused',
  'eyes',
  'rocket',
] as const
export const ReactionName = Type.Enum(reactionNames)
export type ReactionName = Static<typeof ReactionName>

/** One reaction of all users on one comment. */
export const Reaction = Type.Object(
  {
    comment_id: id('cmt'),
    name: ReactionName,
    count: Type.Integer(),
    /** The first of them, the caller before all others. */
    user_ids: Type.Array(id('usr'), { maxItems: programLimits.reactionUsers }),
  },
  { ...closed, title: 'Reaction' },
)
export type Reaction = Static<typeof Reaction>

export const comments = {
  listComments: operation(routes.listComments, {
    summary: 'List comments of an issue or project, oldest first',
    query: Type.Object({ ...paging, target_type: CommentTarget, target_id: Ref }, closed),
    returns: { 200: list(Comment) },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  createComment: operation(routes.createComment, {
    summary: 'Comment on an issue or project, or reply; @[Name](usr_…) mentions a user',
    body: NewComment,
    returns: { 201: Comment },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  searchComments: operation(routes.searchComments, {
    summary:
      'Search the text of comments that you can see, newest first; words without three letters or digits in a row are ignored',
    query: Type.Object({ ...paging, query: Type.String({ minLength: 1, maxLength: limits.query }) }, closed),
    returns: { 200: list(FoundComment) },
  }),
  getComment: operation(routes.getComment, {
    summary: 'Get a comment',
    returns: { 200: Comment },
  }),
  updateComment: operation(routes.updateComment, {
    summary: 'Change the text (author only) or whether it is resolved',
    body: CommentChange,
    returns: { 200: Comment },
    errors: ['FORBIDDEN'],
  }),
  deleteComment: operation(routes.deleteComment, {
    summary: 'Delete a comment and its replies (author or manager)',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
  listReactions: operation(routes.listReactions, {
    summary: 'List the reactions on the comments of an issue or project, those on the newest comments first',
    query: Type.Object({ target_type: CommentTarget, target_id: Ref }, closed),
    returns: { 200: Type.Object({ data: Type.Array(Reaction) }, closed) },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  addReaction: operation(routes.addReaction, {
    summary: 'React to a comment; each reaction counts once per caller, changes no comment and sends no event',
    returns: { 204: null },
  }),
  removeReaction: operation(routes.removeReaction, {
    summary: 'Remove your reaction from a comment',
    returns: { 204: null },
  }),
}
