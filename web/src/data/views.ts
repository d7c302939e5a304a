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

const nothing: View[] = []
/** Views of the issues screen: your own, and those that others share. */
export const useViews = () => useQuery(viewsQuery).data ?? nothing

export const rereadViews = () => queries.invalidateQueries({ queryKey: ['views'] })
