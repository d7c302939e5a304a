import type { Choice, Comment, Installation } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { installationsQuery } from './agent-apps.ts'
import { queries, readAll } from './api.ts'

export interface Target {
  targetType: 'issue' | 'project'
  targetId: string
}

/** Comments of an issue or project, oldest first. */
export const commentsQuery = ({ targetType, targetId }: Target) =>
  queryOptions({
    queryKey: ['comments', targetId],
    queryFn: () => readAll('listComments', { target_type: targetType, target_id: targetId }),
  })

/** Shows a comment as it is now without asking for all of them; null takes it away, with its replies. */
export const putComment = (id: string, targetId: string, comment: Comment | null) =>
  queries.setQueryData<Comment[]>(['comments', targetId], (known = []) => {
    if (!comment) return known.filter((one) => one.id !== id && one.parent_comment_id !== id)
    return known.some((one) => one.id === id)
      ? known.map((one) => (one.id === id ? comment : one))
      : [...known, comment]
  })

/** Somebody to mention, and for an agent why it would not be told. */
export interface Somebody {
  id: string
  name: string
  isAgent: boolean
  isYours: boolean
  avatarUrl: string | null
  why: string | null
}

const choicesQuery = ({ targetType, targetId }: Target) =>
  queryOptions({
    queryKey: ['agents', 'mentionable', targetId],
    queryFn: () => readAll('selectUsers', { ...(targetType === 'issue' && { issue_id: targetId }) }),
  })

const nobody: Choice[] = []

/** Everybody who can be mentioned there, people and agents, by name. Looked up when somebody begins to write. */
export function useMentionable(target: Target, { internal, enabled }: { internal: boolean; enabled: boolean }) {
  const choices = useQuery({ ...choicesQuery(target), enabled }).data ?? nobody
  const installations = useQuery({ ...installationsQuery, enabled }).data ?? []
  return choices
    .map((choice): Somebody => {
      const isAgent = choice.user_kind === 'application'
      const installation = installations.find(({ app_user_id }) => app_user_id === choice.id)
      return {
        id: choice.id,
        name: choice.display_name,
        isAgent,
        isYours: choice.agent_kind === 'personal',
        avatarUrl: choice.avatar_url,
        why: isAgent ? whyNotTold(choice, installation, internal) : null,
      }
    })
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** Why a mention would not reach the agent, or null if it would. */
function whyNotTold(agent: Choice, installation: Installation | undefined, internal: boolean): string | null {
  if (internal) return 'agents do not see internal comments'
  if (agent.agent_kind !== 'app') return agent.available ? null : 'works on shared issues only'
  if (!installation || agent.unavailable_reason === 'app_not_installed_for_team') return 'not installed for this team'
  if (!installation.scopes.includes('app:mentionable')) return 'may not be mentioned'
  return agent.unavailable_reason === 'app_webhook_disabled' ? 'its webhook is switched off' : null
}
