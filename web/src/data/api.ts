import { BatonClient } from '@baton/sdk/client'
import { isBatonError } from '@baton/sdk/errors'
import { type FetchQueryOptions, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query'

export type { BatonError } from '@baton/sdk/errors'
export { isBatonError }

const rememberedWorkspace = 'baton.workspace'
let workspaceId: string | null = localStorage.getItem(rememberedWorkspace)

/** Which workspace every call is about. Another one is entered by loading the app anew, so that nothing of the old stays. */
export const currentWorkspaceId = () => workspaceId

export function enterWorkspace(id: string) {
  workspaceId = id
  localStorage.setItem(rememberedWorkspace, id)
}

/** A call about another workspace than the one that was entered. */
export const inWorkspace = (id: string) => ({ headers: { 'x-workspace-id': id } })

/** The whole API, typed. The login travels as a cookie that scripts cannot read. */
export const api = new BatonClient({
  baseUrl: location.origin,
  fetch: (input, init) => {
    const headers = new Headers(init?.headers)
    if (workspaceId && !headers.has('x-workspace-id')) headers.set('x-workspace-id', workspaceId)
    return fetch(input, { ...init, headers })
  },
})

/** Signed out elsewhere, or by a new password: what was asked for is there again after signing in. */
function leaveIfSignedOut(error: unknown) {
  if (!isBatonError(error, 'UNAUTHORIZED') || location.pathname.startsWith('/sign-')) return
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`)
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: leaveIfSignedOut }),
  defaultOptions: {
    queries: {
      // What changes is told by the live stream; what that does not tell is looked at again after a while.
      staleTime: 30_000,
      gcTime: 30 * 60_000,
      retry: false,
      refetchOnWindowFocus: true,
    },
  },
})

/** What is known of it at once, looked at again in the background; read first if nothing is. */
export const atHand = <Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>) =>
  queries.ensureQueryData({ ...query, revalidateIfStale: true })

/** Reads again what is on the screen of it. What is being read for the first time may be too old as well: once more, then. */
export async function lookAgain(...queryKey: string[]) {
  const first = queries
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined)
  await Promise.allSettled(first.map(({ promise }) => promise))
  await queries.invalidateQueries({ queryKey })
}

/** Every page of a list, or as many as show so many items. */
export async function all<Item>(
  page: (cursor: string | undefined) => Promise<{ data: Item[]; next_cursor: string | null }>,
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const { data, next_cursor } = await page(cursor)
    items.push(...data)
    cursor = next_cursor ?? undefined
  } while (cursor && items.length < most)
  return items
}
