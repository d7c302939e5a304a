import type { ReactNode } from 'react'

export const Cell = ({ className, children }: { className?: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the list; aria-activedescendant names the row
  <div role="gridcell" className={className}>
    {children}
  </div>
)
