import { lazy, Suspense } from 'react'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Markdown of people and agents. While the renderer loads, the text itself stands there. */
export const Markdown = ({ text }: { text: string }) => (
  <Suspense fallback={<div className="prose whitespace-pre-wrap">{text}</div>}>
    <Rendered text={text} />
  </Suspense>
)
