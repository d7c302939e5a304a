import { cx } from '../ui/class-names.ts'

/** A progress bar with its percentage. */
export function Progress({ percent, label, className }: { percent: number; label: string; className?: string }) {
  const rounded = Math.round(percent)
  return (
    <span className={cx('inline-flex items-center gap-2', className)}>
      <span
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={rounded}
        className="h-1.5 min-w-8 flex-1 overflow-hidden rounded-full bg-line"
      >
        <span
          className={cx('block h-full rounded-full', rounded === 100 ? 'bg-ok' : 'bg-ink-2')}
          style={{ width: `${rounded}%` }}
        />
      </span>
      <span className="tabular w-8 shrink-0 text-right text-xs text-ink-2">{rounded}%</span>
    </span>
  )
}
