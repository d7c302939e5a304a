import type { Reaction, ReactionName } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { api, queries, rereadKey } from './api.ts'
import type { Target } from './comments.ts'

/** Reactions on all comments of an issue or project. */
export const reactionsQuery = ({ targetType, targetId }: Omit<Target, 'isPrivate'>) =>
  queryOptions({
    queryKey: ['reactions', targetId],
    queryFn: async () => (await api.listReactions({ target_type: targetType, target_id: targetId })).data,
  })

/** Adds or removes the user's reaction: on the screen at once, then on the server. Reverted if that fails. */
export async function react(target: Target, commentId: string, name: ReactionName, userId: string, on: boolean) {
  const { queryKey } = reactionsQuery(target)
  await queries.cancelQueries({ queryKey })
  const before = queries.getQueryData(queryKey)
  queries.setQueryData(queryKey, withReaction(before ?? [], commentId, name, userId, on))
  try {
    const call = { comment_id: commentId, name }
    await (on ? api.addReaction(call) : api.removeReaction(call))
  } catch (error) {
    queries.setQueryData(queryKey, before)
    throw error
  } finally {
    void rereadKey('reactions', target.targetId)
  }
}

export function withReaction(
  reactions: readonly Reaction[],
  commentId: string,
  name: ReactionName,
  userId: string,
  on: boolean,
): Reaction[] {
  const known = reactions.find((one) => one.comment_id === commentId && one.name === name)
  const others = reactions.filter((one) => one !== known)
  const user_ids = (known?.user_ids ?? []).filter((id) => id !== userId)
  const count = (known?.count ?? 0) - (known?.user_ids.includes(userId) ? 1 : 0) + (on ? 1 : 0)
  if (count === 0) return others
  return [...others, { comment_id: commentId, name, count, user_ids: on ? [userId, ...user_ids] : user_ids }]
}
