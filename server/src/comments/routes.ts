import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { createComment, deleteComment, listComments, readComment, updateComment } from './comments.ts'
import { addReaction, listReactions, removeReaction } from './reactions.ts'
import { searchComments } from './search.ts'

export const commentRoutes = [
  route(api.listComments, ({ ctx, caller, query }) => listComments(ctx, caller, query)),
  route(api.createComment, ({ ctx, caller, body, alias }) => createComment(ctx, caller, body, alias)),
  route(api.searchComments, ({ ctx, caller, query }) => searchComments(ctx, caller, query)),
  route(api.getComment, ({ ctx, caller, params }) => readComment(ctx, caller, params.comment_id)),
  route(api.updateComment, ({ ctx, caller, params, body }) => updateComment(ctx, caller, params.comment_id, body)),
  route(api.deleteComment, ({ ctx, caller, params }) => deleteComment(ctx, caller, params.comment_id)),
  route(api.listReactions, ({ ctx, caller, query }) => listReactions(ctx, caller, query)),
  route(api.addReaction, ({ ctx, caller, params }) => addReaction(ctx, caller, params.comment_id, params.name)),
  route(api.removeReaction, ({ ctx, caller, params }) => removeReaction(ctx, caller, params.comment_id, params.name)),
]
