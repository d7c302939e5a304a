import type { View } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { queries, readAll } from './api.ts'

const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: async () => {
    const views = await readAll('listViews')
    return views.sort((a, b) => a.name.localeCompare(b.name))
  },
})

const none: View[] = []
/** Saved views of the issues screen: private ones of the user and shared ones. */
export const useViews = () => useQuery(viewsQuery).data ?? none

export const rereadViews = () => queries.invalidateQueries({ queryKey: ['views'] })
