import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** Public facts about the instance: whether sign-up is open, the demo's credentials, and whether it has a model and sends mail. */
export const instanceQuery = queryOptions({
  queryKey: ['instance'],
  staleTime: 60_000,
  queryFn: () => api.getInstance(),
})
