import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

/** Where a screen stands: the places above it as links, itself last. For the title of a page; on a narrow one the nearest place stays. */
export const Crumbs = ({ above, children }: { above: ReactNode[]; children: ReactNode }) => (
  <span className="flex min-w-0 items-center gap-1.5 [&_a]:font-normal [&_a]:text-ink-2 [&_a:hover]:text-ink [&_a:hover]:underline">
    {above.map((place, index) => (
      <span
        // biome-ignore lint/suspicious/noArrayIndexKey: the places above a screen do not move
        key={index}
        className={cx('flex min-w-0 shrink items-center gap-1.5', index < above.length - 1 && 'max-sm:hidden')}
      >
        <span className="min-w-0 truncate">{place}</span>
        <span aria-hidden className="text-ink-3">
          /
        </span>
      </span>
    ))}
    <span className="min-w-0 truncate">{children}</span>
  </span>
)
