import { queryOptions, useQuery } from '@tanstack/react-query'
import { readAll } from './api.ts'

export const inboxQuery = queryOptions({
  queryKey: ['inbox'],
  queryFn: () => readAll('listInbox', {}, 300),
})

export const useUnreadCount = () =>
  useQuery({ ...inboxQuery, select: (entries) => entries.filter(({ read_at }) => !read_at).length }).data ?? 0
