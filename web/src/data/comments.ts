import type { Choice, Comment, Installation } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { installationsQuery } from './agent-apps.ts'
import { queries, readAll } from './api.ts'

export interface Target {
  targetType: 'issue' | 'project'
  targetId: string
  /** Only the owner and their personal agents can see a private item. */
  isPrivate: boolean
}

/** Comments of an issue or project, oldest first. */
export const commentsQuery = ({ targetType, targetId }: Omit<Target, 'isPrivate'>) =>
  queryOptions({
    queryKey: ['comments', targetId],
    queryFn: () => readAll('listComments', { target_type: targetType, target_id: targetId }),
  })

/** Stores one comment without reloading the others; null removes it and its replies. */
export const putComment = (id: string, targetId: string, comment: Comment | null) =>
  queries.setQueryData<Comment[]>(['comments', targetId], (known = []) => {
    if (!comment) return known.filter((one) => one.id !== id && one.parent_comment_id !== id)
    return known.some((one) => one.id === id)
      ? known.map((one) => (one.id === id ? comment : one))
      : [...known, comment]
  })

/** A person or agent that can be mentioned. */
export interface Mentionable {
  id: string
  name: string
  isAgent: boolean
  isPersonal: boolean
  avatarUrl: string | null
  /** Why a mention would not reach the agent; null if it would. */
  unreachable: string | null
}

const choicesQuery = ({ targetType, targetId }: Target) =>
  queryOptions({
    queryKey: ['agents', 'mentionable', targetId],
    queryFn: () => readAll('selectUsers', { ...(targetType === 'issue' && { issue_id: targetId }) }),
  })

const none: Choice[] = []

/** All people and agents that can be mentioned there, by name. Loaded once `enabled`. */
export function useMentionable(target: Target, { internal, enabled }: { internal: boolean; enabled: boolean }) {
  const choices = useQuery({ ...choicesQuery(target), enabled }).data ?? none
  const installations = useQuery({ ...installationsQuery, enabled }).data ?? []
  return choices
    .map((choice): Mentionable => {
      const isAgent = choice.user_kind === 'application'
      const installation = installations.find(({ app_user_id }) => app_user_id === choice.id)
      return {
        id: choice.id,
        name: choice.display_name,
        isAgent,
        isPersonal: choice.agent_kind === 'personal',
        avatarUrl: choice.avatar_url,
        unreachable: isAgent ? unreachableReason(choice, installation, internal) : null,
      }
    })
    .filter(({ isAgent, unreachable }) => !target.isPrivate || (isAgent && !unreachable))
    .sort((a, b) => a.name.localeCompare(b.name))
}

function unreachableReason(agent: Choice, installation: Installation | undefined, internal: boolean): string | null {
  if (internal) return 'agents do not see internal comments'
  if (agent.agent_kind !== 'app') return agent.available ? null : 'works on shared issues only'
  if (!installation || agent.unavailable_reason === 'app_not_installed_for_team') return 'not installed for this team'
  if (!installation.scopes.includes('app:mentionable')) return 'cannot be mentioned'
  return agent.unavailable_reason === 'app_webhook_disabled' ? 'its webhook is disabled' : null
}
