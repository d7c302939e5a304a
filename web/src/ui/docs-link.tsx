import type { ReactNode } from 'react'

/** A page of the instance's own docs, in a new tab. */
export const DocsLink = ({ page, children }: { page: string; children: ReactNode }) => (
  <a href={`/docs/${page}`} target="_blank" rel="noreferrer" className="font-medium underline underline-offset-2">
    {children}
  </a>
)
