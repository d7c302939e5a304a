import type { ReactNode, Ref } from 'react'

interface Props {
  ref: Ref<HTMLDivElement>
  header: ReactNode
  /** Shown in a column on the right if there is room. */
  properties: ReactNode
  children: ReactNode
}

/** Detail view of an issue or project, as a page or next to a list. */
export const Detail = ({ ref, header, properties, children }: Props) => (
  <div ref={ref} className="@container flex h-full min-w-0 flex-col">
    {header}
    {/* `relative` contains the absolutely positioned sr-only elements, which would make the window scroll. */}
    <div className="relative min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto grid min-h-full max-w-[1160px] @4xl:grid-cols-[minmax(0,1fr)_296px]">
        <div className="min-w-0 space-y-4 px-4 pt-4 pb-16 @xl:px-6 @4xl:px-10 @4xl:pt-6">{children}</div>
        <aside aria-label="Properties" className="hidden border-l px-4 pt-6 @4xl:block">
          <div className="sticky top-6">{properties}</div>
        </aside>
      </div>
    </div>
  </div>
)

export const DetailSkeleton = () => (
  <div aria-hidden className="h-full">
    <div className="h-12 border-b" />
    <div className="mx-auto max-w-[1160px] space-y-4 px-10 pt-8">
      <div className="skeleton h-6 w-1/2" />
      <div className="skeleton h-4 w-4/5" />
      <div className="skeleton h-4 w-2/3" />
    </div>
  </div>
)
