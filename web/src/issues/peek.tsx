import { Link } from '@tanstack/react-router'
import { Maximize2, X } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { IconButton } from '../ui/button.tsx'
import { Skeletons } from '../ui/states.tsx'

const IssueDetail = lazy(() => import('./issue-detail.tsx').then((module) => ({ default: module.IssueDetail })))

/** An issue beside the list it stands in. */
export function Peek({ code, onClose }: { code: string; onClose: () => void }) {
  return (
    <aside
      aria-label={`Issue ${code}`}
      className="flex w-[min(36rem,46%)] shrink-0 flex-col border-l bg-canvas max-md:absolute max-md:inset-0 max-md:z-30 max-md:w-full max-md:border-l-0"
    >
      <div className="flex h-10 shrink-0 items-center gap-1 border-b px-3">
        <span className="flex-1 text-xs text-ink-3 tabular">{code}</span>
        <Link
          to="/issue/$code"
          params={{ code }}
          aria-label="Open as a page"
          title="Open as a page"
          className="inline-flex size-7 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Maximize2 size={14} aria-hidden />
        </Link>
        <IconButton label="Close" icon={X} onClick={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <Suspense fallback={<Skeletons />}>
          <IssueDetail key={code} code={code} inPanel />
        </Suspense>
      </div>
    </aside>
  )
}
