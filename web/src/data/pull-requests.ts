import { queryOptions } from '@tanstack/react-query'
import { api, readAll } from './api.ts'

/** Pull requests of an issue, and pushed branches without one. */
export const pullRequestsOfIssue = (issueId: string) =>
  queryOptions({
    queryKey: ['pull-requests', issueId],
    queryFn: async () => {
      const { data, branches } = await api.listPullRequests({ issue_id: issueId, limit: 100 })
      return { pullRequests: data, branches }
    },
  })

export const pullRequestsOfSession = (sessionId: string) =>
  queryOptions({
    queryKey: ['pull-requests', sessionId],
    queryFn: () => readAll('listPullRequests', { session_id: sessionId }, 100),
  })
