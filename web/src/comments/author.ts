import { useQuery } from '@tanstack/react-query'
import { agentName } from '../agent-sessions/state.tsx'
import { sessionsQuery } from '../data/agent-sessions.ts'
import { useNameOfPerson } from '../data/names.ts'
import { usePeople } from '../data/workspaces.ts'

/** The author of a comment. Removed agents and other users' personal agents are not listed; their sessions have the name. */
export function useAuthor(id: string | null) {
  const people = usePeople()
  const author = people.get(id ?? '')
  const isUnknown = people.size > 0 && !author
  const { data: sessions } = useQuery({ ...sessionsQuery, enabled: isUnknown })
  const nameOfPerson = useNameOfPerson()
  const named = isUnknown && id ? nameOfPerson(id) : undefined
  const session = isUnknown ? sessions?.find(({ app_user_id }) => app_user_id === id) : undefined
  return {
    name: author?.display_name ?? named ?? (session ? agentName(people, session) : isUnknown ? 'A former member' : '…'),
    isAgent: author ? author.user_kind === 'application' : session !== undefined,
    avatarUrl: author?.avatar_url ?? null,
  }
}
