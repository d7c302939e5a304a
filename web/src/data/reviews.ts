import type { Review } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, queries, readAll, rereadKey } from './api.ts'
import { watch } from './live.ts'
import { singleFlight } from './single-flight.ts'

type Which = Partial<Record<'session_id' | 'issue_id', string>>

/** The reviews that wait, longest first. */
export const reviewsQuery = (which: Which = {}) =>
  queryOptions({ queryKey: ['reviews', which], queryFn: (): Promise<Review[]> => readAll('listReviews', which) })

export const reviewQuery = (id: string) =>
  queryOptions({ queryKey: ['reviews', id], queryFn: () => api.getReview({ review_id: id }) })

export const triageQuery = (team_id: string | undefined) =>
  queryOptions({
    queryKey: ['triage', team_id ?? ''],
    queryFn: () => readAll('listTriage', team_id ? { team_id } : {}),
  })

export const teamReviewQuery = (team_id: string) =>
  queryOptions({ queryKey: ['workspace', 'team-review', team_id], queryFn: () => api.getTeamReview({ team_id }) })

/** Reads reviews or triage again with each change of an issue or session. */
export function useLive(key: 'reviews' | 'triage') {
  useEffect(
    () =>
      watch((news) => {
        if (news.kind !== 'change' || ['Issue', 'AgentSession', 'Comment'].includes(news.change.type)) {
          void singleFlight(`stale ${key}`, () => rereadKey(key))
        }
      }),
    [key],
  )
}

export function useReviews(which: Which = {}) {
  useLive('reviews')
  return useQuery(reviewsQuery(which))
}

export const refreshReviews = () => queries.invalidateQueries({ queryKey: ['reviews'] })
