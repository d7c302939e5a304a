import type { ChecksState, GitBranch, PullRequest, PullRequestState, ReviewState } from '@baton/protocol'
import {
  CircleCheck,
  CircleDotDashed,
  CircleX,
  GitBranch as GitBranchIcon,
  GitFork,
  GitMerge,
  GitPullRequest,
  GitPullRequestClosed,
  GitPullRequestDraft,
  type LucideIcon,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from '../ui/class-names.ts'
import { Pill, type Tone } from '../ui/pill.tsx'
import { Tip } from '../ui/tip.tsx'

const states: Record<PullRequestState, { label: string; icon: LucideIcon; className: string }> = {
  open: { label: 'Open', icon: GitPullRequest, className: 'text-ok' },
  draft: { label: 'Draft', icon: GitPullRequestDraft, className: 'text-ink-3' },
  merged: { label: 'Merged', icon: GitMerge, className: 'text-agent' },
  closed: { label: 'Closed', icon: GitPullRequestClosed, className: 'text-bad' },
}

const reviews: Record<ReviewState, { label: string; tone: Tone }> = {
  requested: { label: 'Review requested', tone: 'warn' },
  approved: { label: 'Approved', tone: 'ok' },
  changes_requested: { label: 'Changes requested', tone: 'bad' },
}

const checks: Record<ChecksState, { label: string; icon: LucideIcon; className: string }> = {
  pending: { label: 'Checks running', icon: CircleDotDashed, className: 'text-warn' },
  passed: { label: 'Checks passed', icon: CircleCheck, className: 'text-ok' },
  failed: { label: 'Checks failed', icon: CircleX, className: 'text-bad' },
}

/** An icon whose meaning is also a text. */
const Meaning = ({ label, icon: Icon, className }: { label: string; icon: LucideIcon; className: string }) => (
  <Tip label={label}>
    <span role="img" aria-label={label} className="inline-flex shrink-0">
      <Icon size={14} aria-hidden className={className} />
    </span>
  </Tip>
)

export const StateIcon = ({ state }: { state: PullRequestState }) => <Meaning {...states[state]} />

interface LineProps {
  url: string
  icon: ReactNode
  title: string
  /** Beside the title; below it on narrow screens. */
  place: string
  children?: ReactNode
  actions?: ReactNode
}

/** Titles come from the git host: they are shown as text, never as Markdown. */
const Line = ({ url, icon, title, place, children, actions }: LineProps) => (
  <li className="group/line flex min-h-8 items-center gap-1 rounded hover:bg-hover">
    <a
      href={url}
      target="_blank"
      rel="noreferrer noopener nofollow"
      className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 gap-y-0.5 rounded px-2 py-1"
    >
      {icon}
      <bdi className="min-w-0 max-w-full flex-initial truncate">{title}</bdi>
      <span className="flex min-w-0 flex-1 items-center gap-2">
        <span className="min-w-0 truncate text-xs text-ink-3">
          <bdi>{place}</bdi>
        </span>
        {children}
      </span>
    </a>
    {actions}
  </li>
)

export const PullRequestLine = ({ pullRequest, actions }: { pullRequest: PullRequest; actions?: ReactNode }) => {
  const { state, review, checks: result, fork, title, url, repository, number } = pullRequest
  return (
    <Line
      url={url}
      icon={<StateIcon state={state} />}
      title={title}
      place={`${repository}#${number}`}
      actions={actions}
    >
      {fork && <Meaning label="From a fork" icon={GitFork} className="text-ink-3" />}
      {result && <Meaning {...checks[result]} />}
      {review && (
        <Pill tone={reviews[review].tone} className="ml-auto">
          {reviews[review].label}
        </Pill>
      )}
    </Line>
  )
}

export const BranchLine = ({ branch: { url, name, repository } }: { branch: GitBranch }) => (
  <Line
    url={url}
    icon={<Meaning label="Branch" icon={GitBranchIcon} className="text-ink-3" />}
    title={name}
    place={repository}
  />
)

/** The pull requests of an agent session. */
export const PullRequests = ({ list, className }: { list: readonly PullRequest[]; className?: string }) =>
  list.length > 0 && (
    <ul aria-label="Pull requests" className={cx('rounded border bg-surface py-0.5', className)}>
      {list.map((pullRequest) => (
        <PullRequestLine key={pullRequest.id} pullRequest={pullRequest} />
      ))}
    </ul>
  )
