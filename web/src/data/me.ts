import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { api, currentWorkspaceId, isBatonError } from './api.ts'

/** Who is signed in, or null. */
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

/** Who is signed in, where that is certain, and what they are in this workspace. */
export function useMe() {
  const { data } = useSuspenseQuery(meQuery)
  if (!data) throw new Error('nobody is signed in')
  const workspace = data.workspaces.find(({ id }) => id === currentWorkspaceId()) ?? data.workspaces[0]
  const role = workspace?.role ?? 'member'
  return { ...data, workspace, role, isManager: role !== 'member' }
}

/** Where to go after signing in: a place of ours, whatever the address says. */
export function safeNext(next: unknown): string {
  if (typeof next !== 'string' || !URL.canParse(next, location.origin)) return '/'
  const url = new URL(next, location.origin)
  return url.origin === location.origin ? url.pathname + url.search + url.hash : '/'
}
