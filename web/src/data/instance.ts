import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** How to get in here: whether anybody may sign up, and the demo's login where there is one. */
export const instanceQuery = queryOptions({
  queryKey: ['instance'],
  staleTime: 60_000,
  queryFn: () => api.getInstance(),
})
