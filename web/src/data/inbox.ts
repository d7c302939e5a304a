import type { ThreadState } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { readAll } from './api.ts'

export const threadsQuery = (state: ThreadState) =>
  queryOptions({
    queryKey: ['inbox', state],
    queryFn: () => readAll('listInboxThreads', { state }, 300),
  })

/** The open threads, newest first. */
export const inboxQuery = threadsQuery('open')

export const useUnreadCount = () =>
  useQuery({ ...inboxQuery, select: (threads) => threads.filter(({ unread_count }) => unread_count > 0).length })
    .data ?? 0
