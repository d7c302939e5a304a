import { queryOptions, useQuery } from '@tanstack/react-query'
import { all, api } from './api.ts'

export const inboxQuery = queryOptions({
  queryKey: ['inbox'],
  queryFn: () => all((cursor) => api.listInbox({ limit: 100, ...(cursor && { cursor }) }), 300),
})

export const useUnreadCount = () =>
  useQuery({ ...inboxQuery, select: (entries) => entries.filter(({ read_at }) => !read_at).length }).data ?? 0
