import { queryOptions } from '@tanstack/react-query'
import { all, api } from '../api.ts'

/** Comments of an issue or project, oldest first. */
export const commentsQuery = (target_type: 'issue' | 'project', target_id: string) =>
  queryOptions({
    queryKey: ['comments', target_id],
    queryFn: () => all((cursor) => api.listComments({ target_type, target_id, limit: 100, ...(cursor && { cursor }) })),
  })
