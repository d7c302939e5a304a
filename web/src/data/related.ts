import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** Watchers and duplicates of an issue. */
export const relatedQuery = (issueId: string) =>
  queryOptions({ queryKey: ['related', issueId], queryFn: () => api.getRelated({ issue_id: issueId }) })
