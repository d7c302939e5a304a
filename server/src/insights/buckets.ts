/** Durations are counted in 48 buckets, each √2 wide, so that days can be added up and quantiles are at most 19 % off. */
export const bucketCount = 48

/** Where the first bucket begins. Shorter durations count there: agents answer within a blink, issues never do. */
export const shortest = { first_activity: 10, answer_time: 1000, lead_time: 60_000, cycle_time: 60_000 } as const
export type Measure = keyof typeof shortest

export type Buckets = number[]

const bucketOf = (measure: Measure, ms: number) =>
  Math.min(bucketCount - 1, Math.max(0, Math.floor(2 * Math.log2(Math.max(ms, 1) / shortest[measure]))))

/** Adds a duration to `buckets`, which is null before the first one. */
export function count(buckets: Buckets | null, measure: Measure, ms: number): Buckets {
  const counted = buckets ?? new Array<number>(bucketCount).fill(0)
  const bucket = bucketOf(measure, ms)
  counted[bucket] = (counted[bucket] ?? 0) + 1
  return counted
}

/** Null without a value. */
export function durations(measure: Measure, buckets: readonly number[]) {
  const total = buckets.reduce((sum, one) => sum + one, 0)
  if (total === 0) return null
  const quantile = (share: number) => {
    const rank = Math.ceil(share * total)
    let below = 0
    const bucket = buckets.findIndex((one) => {
      below += one
      return below >= rank
    })
    // The middle of the bucket as a factor, so that it is as far from both ends.
    return Math.round(shortest[measure] * 2 ** (bucket / 2 + 1 / 4))
  }
  return { count: total, p50_ms: quantile(0.5), p90_ms: quantile(0.9) }
}
