import { limits } from '@baton/protocol/limits'
import type { CallName } from '@baton/protocol/routes'
import { type Answer, BatonClient, type FlatInput } from '@baton/sdk/client'
import { isBatonError } from '@baton/sdk/errors'
import {
  type FetchQueryOptions,
  QueryCache,
  QueryClient,
  type QueryFilters,
  type QueryKey,
} from '@tanstack/react-query'

import { repeatAfterConfirming } from './reauth.ts'

export type { BatonError } from '@baton/sdk/errors'
export { isBatonError }

const workspaceKey = 'baton.workspace'
let workspaceId: string | null = localStorage.getItem(workspaceKey)

/** The workspace of every call. Switching reloads the app, so that no data of the old workspace remains. */
export const currentWorkspaceId = () => workspaceId

export function enterWorkspace(id: string) {
  workspaceId = id
  localStorage.setItem(workspaceKey, id)
}

/** Options for a call about another workspace than the current one. */
export const inWorkspace = (id: string) => ({ headers: { 'x-workspace-id': id } })

/** The whole API, typed. Authenticated by a cookie that scripts cannot read. */
export const api = new BatonClient({
  baseUrl: location.origin,
  fetch: async (input, init) => {
    const headers = new Headers(init?.headers)
    if (workspaceId && !headers.has('x-workspace-id')) headers.set('x-workspace-id', workspaceId)
    const response = await fetch(input, { ...init, headers })
    if (response.status !== 403) return response
    // Without the signal: the deadline of the first request may have passed while the user confirmed.
    return repeatAfterConfirming(response, () => fetch(input, { ...init, headers, signal: null }))
  },
})

/** Signed out elsewhere, or by a new password: opens the sign-in page, which returns here afterwards. */
function redirectIfSignedOut(error: unknown) {
  if (!isBatonError(error, 'UNAUTHORIZED') || location.pathname.startsWith('/sign-')) return
  location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`)
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: redirectIfSignedOut }),
  defaultOptions: {
    queries: {
      // The live stream reports most changes; data that it does not cover is read again after this time.
      staleTime: 30_000,
      gcTime: 30 * 60_000,
      retry: false,
      refetchOnWindowFocus: true,
    },
  },
})

/** Cached data at once, refreshed in the background if stale; without any, waits for the first read. */
export const cachedOrRead = <Data, Key extends QueryKey>(query: FetchQueryOptions<Data, Error, Data, Key>) =>
  queries.ensureQueryData({ ...query, revalidateIfStale: true })

/** Reads queries again. A first read under way may return data from before the change, so it is repeated too. */
export async function reread(filters: QueryFilters) {
  const first = queries
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined)
  await Promise.allSettled(first.map(({ promise }) => promise))
  await queries.invalidateQueries(filters)
}

export const rereadKey = (...queryKey: string[]) => reread({ queryKey })

interface Page {
  data: unknown[]
  next_cursor: string | null
}
/** Operations that return a list page by page. */
type ListName = { [Name in CallName]: Answer<Name> extends Page ? Name : never }[CallName]
type ListQuery<Name extends ListName> = Omit<FlatInput<Name>, 'cursor' | 'limit'>
type ReadAllArguments<Name extends ListName> =
  Record<never, never> extends ListQuery<Name>
    ? [query?: ListQuery<Name>, most?: number]
    : [query: ListQuery<Name>, most?: number]

/** Reads all pages of a list, or pages until there are at least `most` items. */
export async function readAll<Name extends ListName>(
  name: Name,
  ...[query, most = Number.POSITIVE_INFINITY]: ReadAllArguments<Name>
): Promise<Answer<Name>['data']> {
  const list = api[name].bind(api) as unknown as (input: object) => Promise<Page>
  const items: unknown[] = []
  let cursor: string | null = null
  do {
    const page: Page = await list({ ...query, limit: limits.pageMax, ...(cursor && { cursor }) })
    items.push(...page.data)
    cursor = page.next_cursor
  } while (cursor && items.length < most)
  return items as Answer<Name>['data']
}
