import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { api, currentWorkspaceId, isBatonError } from './api.ts'

/** The signed-in user, or null. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  staleTime: 5 * 60_000,
  queryFn: async () => {
    try {
      const me = await api.getMe()
      if (!('workspaces' in me)) throw new Error('an app is signed in')
      return me
    } catch (error) {
      if (isBatonError(error, 'UNAUTHORIZED')) return null
      throw error
    }
  },
})

/** The signed-in user and their role in this workspace. For screens that require sign-in. */
export function useMe() {
  const { data } = useSuspenseQuery(meQuery)
  if (!data) throw new Error('not signed in')
  const workspace = data.workspaces.find(({ id }) => id === currentWorkspaceId()) ?? data.workspaces[0]
  const role = workspace?.role ?? 'member'
  return { ...data, workspace, role, isManager: role !== 'member' }
}
