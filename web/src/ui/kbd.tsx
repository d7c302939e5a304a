import { cx } from './class-names.ts'
import { keyCaps } from './shortcuts.ts'

/** The keys of a command, drawn as key caps. */
export const Kbd = ({ keys, inverted, className }: { keys: string; inverted?: boolean; className?: string }) => (
  <span className={cx('inline-flex gap-0.5', className)} aria-hidden>
    {keyCaps(keys).map((cap, index) => (
      <kbd
        // biome-ignore lint/suspicious/noArrayIndexKey: the same cap may appear twice, and the order never changes
        key={index}
        className={cx(
          'inline-flex h-4 min-w-4 items-center justify-center rounded-sm border px-1 font-sans text-2xs leading-none',
          inverted ? 'border-on-ink/30 text-on-ink' : 'border-line-strong bg-surface text-ink-2',
        )}
      >
        {cap}
      </kbd>
    ))}
  </span>
)
