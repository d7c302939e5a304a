import type { ChecksState, GitEvent, PullRequestState, ReviewState } from '@baton/protocol'
import type { CheckReading, PullRequestReading, ReviewVerdict } from './reading.ts'

/** The parts of a stored pull request that events change. */
export interface StoredPullRequest {
  id: string
  state: PullRequestState
  review: ReviewState | null
  reviews: Record<string, ReviewVerdict>
  checks: ChecksState | null
  check_runs: CheckRuns
  head_commit: string
  updated_at: string
}

export type CheckRuns = Record<string, { run: number; state: ChecksState; at: string }>

/** More checks of one commit are ignored. */
const maxCheckRuns = 200
const maxReviewers = 100

export const isOpen = (state: PullRequestState) => state === 'open' || state === 'draft'

export const isStale = (stored: StoredPullRequest, { updatedAt }: PullRequestReading) =>
  updatedAt < new Date(stored.updated_at)

/** The state after an event. A new head commit has no checks yet, and a merge is final. */
export function afterEvent(stored: StoredPullRequest | null, reading: PullRequestReading) {
  const reviews = mergedReviews(stored?.reviews ?? {}, reading.reviews)
  const sameHead = stored?.head_commit === reading.headCommit
  return {
    state: stored?.state === 'merged' ? stored.state : reading.state,
    reviews,
    review: reviewState(reviews, reading.reviewRequested),
    check_runs: sameHead ? stored.check_runs : {},
    checks: sameHead ? stored.checks : null,
  }
}

function mergedReviews(
  stored: Record<string, ReviewVerdict>,
  { set, clearApprovals }: PullRequestReading['reviews'],
): Record<string, ReviewVerdict> {
  const kept = Object.entries(stored).filter(([, verdict]) => !(clearApprovals && verdict === 'approved'))
  const all = new Map<string, ReviewVerdict | null>([...kept, ...Object.entries(set)])
  const given = [...all].filter((entry): entry is [string, ReviewVerdict] => entry[1] !== null)
  return Object.fromEntries(given.slice(0, maxReviewers))
}

function reviewState(reviews: Record<string, ReviewVerdict>, isRequested: boolean): ReviewState | null {
  const verdicts = Object.values(reviews)
  if (verdicts.includes('changes_requested')) return 'changes_requested'
  if (verdicts.includes('approved')) return 'approved'
  return isRequested ? 'requested' : null
}

/** The checks of the head commit after one of them reported; null if it is older than what is stored. */
export function afterCheck(runs: CheckRuns, { name, run, state, at }: CheckReading) {
  const stored = runs[name]
  if (stored && (run < stored.run || (run === stored.run && at < new Date(stored.at)))) return null
  if (!stored && Object.keys(runs).length >= maxCheckRuns) return null
  const check_runs = { ...runs, [name]: { run, state, at: at.toISOString() } }
  const states = Object.values(check_runs).map((one) => one.state)
  const checks: ChecksState = states.includes('failed') ? 'failed' : states.includes('pending') ? 'pending' : 'passed'
  return { check_runs, checks }
}

/** An issue that the pull request closes, and the state of the other pull requests that close it. */
export interface ClosedIssue {
  isNew: boolean
  otherOpen: boolean
  otherMerged: boolean
}

interface Change {
  before: Pick<StoredPullRequest, 'state' | 'review'> | null
  after: { state: PullRequestState; review: ReviewState | null; fork: boolean }
}

/**
 * The events of a rule that the change means for one issue. Only a change of state counts, so repeated data has no
 * effect. A fork counts when it is merged, because anyone can open one (git.automation-fork).
 */
export function eventsFor({ before, after }: Change, { isNew, otherOpen, otherMerged }: ClosedIssue): GitEvent[] {
  if (after.fork && after.state !== 'merged') return []
  const isChanged = before?.state !== after.state
  if (after.state === 'merged') return isChanged && !otherOpen ? ['merged'] : []
  // The last open one is closed without a merge, but another was merged before.
  if (after.state === 'closed') return isChanged ? (otherMerged && !otherOpen ? ['merged'] : ['closed']) : []
  const events: GitEvent[] = []
  if (isNew || !before || !isOpen(before.state)) events.push('opened')
  if (isNew || before?.review !== after.review) {
    if (after.review === 'requested') events.push('review_requested')
    if (after.review === 'approved') events.push('approved')
  }
  return events
}
