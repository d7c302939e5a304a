import type { IssueStatus, IssueType, Priority } from '@baton/protocol'

// Labels and icons of statuses, priorities and types.
export const statuses: { value: IssueStatus; label: string }[] = [
  { value: 'backlog', label: 'Backlog' },
  { value: 'todo', label: 'Todo' },
  { value: 'in_progress', label: 'In progress' },
  { value: 'qa', label: 'QA' },
  { value: 'release', label: 'Release' },
  { value: 'done', label: 'Done' },
]
export const priorities: { value: Priority; label: string }[] = [
  { value: 'no_priority', label: 'No priority' },
  { value: 'urgent', label: 'Urgent' },
  { value: 'high', label: 'High' },
  { value: 'medium', label: 'Medium' },
  { value: 'low', label: 'Low' },
]
export const types: { value: IssueType; label: string }[] = [
  { value: 'task', label: 'Task' },
  { value: 'bug', label: 'Bug' },
  { value: 'feature', label: 'Feature' },
  { value: 'story', label: 'Story' },
]

const labelIn = <Value extends string>(options: { value: Value; label: string }[]) => {
  const labels = new Map(options.map(({ value, label }) => [value as string, label]))
  return (value: string) => labels.get(value) ?? value
}
export const statusLabel = labelIn(statuses)
export const priorityLabel = labelIn(priorities)
export const typeLabel = labelIn(types)

const filled: Record<IssueStatus, number> = { backlog: 0, todo: 0, in_progress: 0.4, qa: 0.65, release: 0.85, done: 1 }
const colors: Record<IssueStatus, string> = {
  backlog: 'text-ink-3',
  todo: 'text-ink-3',
  in_progress: 'text-warn',
  qa: 'text-info',
  release: 'text-agent',
  done: 'text-ok',
}

/** A ring that is filled further in each later status. */
export function StatusIcon({ status, size = 14 }: { status: IssueStatus; size?: number }) {
  const part = filled[status]
  const length = 2 * Math.PI * 3
  return (
    <svg width={size} height={size} viewBox="0 0 14 14" aria-hidden className={`shrink-0 ${colors[status]}`}>
      <circle
        cx="7"
        cy="7"
        r="6"
        fill={part === 1 ? 'currentColor' : 'none'}
        stroke="currentColor"
        strokeWidth="1.6"
        strokeDasharray={status === 'backlog' ? '2 1.77' : undefined}
      />
      {part > 0 && part < 1 && (
        <circle
          cx="7"
          cy="7"
          r="3"
          fill="none"
          stroke="currentColor"
          strokeWidth="6"
          strokeDasharray={`${part * length} ${length}`}
          transform="rotate(-90 7 7) scale(0.62) translate(4.3 4.3)"
        />
      )}
      {part === 1 && (
        <path
          d="m4.4 7.2 1.8 1.8 3.4-3.8"
          fill="none"
          className="stroke-surface"
          strokeWidth="1.6"
          strokeLinecap="round"
        />
      )}
    </svg>
  )
}

const bars: Record<Priority, number> = { no_priority: 0, low: 1, medium: 2, high: 3, urgent: 4 }

export function PriorityIcon({ priority, size = 14 }: { priority: Priority; size?: number }) {
  if (priority === 'urgent') {
    return (
      <svg width={size} height={size} viewBox="0 0 14 14" aria-hidden className="shrink-0 text-accent">
        <rect x="0.5" y="0.5" width="13" height="13" rx="3.5" fill="currentColor" />
        <path d="M7 3.5v4M7 10v.4" className="stroke-surface" strokeWidth="1.8" strokeLinecap="round" />
      </svg>
    )
  }
  return (
    <svg width={size} height={size} viewBox="0 0 14 14" aria-hidden className="shrink-0 text-ink-2">
      {priority === 'no_priority'
        ? [1.5, 6, 10.5].map((x) => (
            <rect key={x} x={x} y="6.4" width="2.4" height="1.4" rx="0.7" fill="currentColor" opacity="0.6" />
          ))
        : [1, 2, 3].map((bar) => (
            <rect
              key={bar}
              x={bar * 4 - 2.6}
              y={11.5 - bar * 3}
              width="2.7"
              height={bar * 3}
              rx="0.8"
              fill="currentColor"
              opacity={bar <= bars[priority] ? 1 : 0.25}
            />
          ))}
    </svg>
  )
}

/** Urgent first, no priority last. */
export const byPriority = (a: Priority, b: Priority) => bars[b] - bars[a]
