import { lazy, Suspense } from 'react'
import { Skeletons } from '../ui/states.tsx'

const IssueDetail = lazy(() => import('./issue/issue-detail.tsx').then((module) => ({ default: module.IssueDetail })))

/** An issue beside the list. */
export function Preview({ code, onClose }: { code: string; onClose: () => void }) {
  return (
    <aside
      aria-label={`Issue ${code}`}
      className="w-[min(36rem,46%)] shrink-0 border-l bg-canvas max-md:absolute max-md:inset-0 max-md:z-30 max-md:w-full max-md:border-l-0"
    >
      <Suspense fallback={<Skeletons />}>
        <IssueDetail code={code} inPanel onClose={onClose} />
      </Suspense>
    </aside>
  )
}
