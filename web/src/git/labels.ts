import type { GitConnection, GitDelivery, GitEvent, GitKind, GitOutcome } from '@baton/protocol'
import type { Tone } from '../ui/pill.tsx'

export const kinds: { value: GitKind; label: string; host: string }[] = [
  { value: 'github', label: 'GitHub', host: 'github.com' },
  { value: 'gitlab', label: 'GitLab', host: 'gitlab.com' },
  { value: 'gitea', label: 'Gitea', host: 'gitea.com' },
  { value: 'forgejo', label: 'Forgejo', host: 'codeberg.org' },
]
export const kindOf = (kind: GitKind) => kinds.find(({ value }) => value === kind) as (typeof kinds)[0]

export const outcomes: Record<GitOutcome, { label: string; tone: Tone }> = {
  linked: { label: 'Linked', tone: 'ok' },
  updated: { label: 'Updated', tone: 'ok' },
  no_code: { label: 'No issue named', tone: 'neutral' },
  ignored_event: { label: 'Other event', tone: 'neutral' },
  ignored_repository: { label: 'Repository not listed', tone: 'warn' },
  stale: { label: 'Older than stored', tone: 'neutral' },
  duplicate: { label: 'Sent before', tone: 'neutral' },
}

export const comments: Record<NonNullable<GitDelivery['comment']>, string> = {
  waiting: 'Comment waiting',
  posted: 'Comment posted',
  failed: 'Comment failed',
}

export const rules: { event: GitEvent; label: string }[] = [
  { event: 'branch', label: 'A branch is pushed' },
  { event: 'opened', label: 'A pull request is opened' },
  { event: 'review_requested', label: 'A review is requested' },
  { event: 'approved', label: 'It is approved' },
  { event: 'merged', label: 'The last one is merged' },
  { event: 'closed', label: 'It is closed without a merge' },
]

/** Where the git host sends its events. */
export const hookUrl = ({ id }: Pick<GitConnection, 'id'>) => `${location.origin}/hooks/git/${id}`
