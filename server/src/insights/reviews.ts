import type { Queryable } from '../db/database.ts'

export interface DecidedReviews {
  accepted: number
  sent_back: number
}

/** How often the results of these sessions were accepted and sent back, by session. There are no reviews yet. */
export async function reviewsDecided(
  _db: Queryable,
  _sessionIds: readonly string[],
): Promise<ReadonlyMap<string, DecidedReviews>> {
  return new Map()
}
