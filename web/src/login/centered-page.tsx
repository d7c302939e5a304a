import type { ReactNode } from 'react'

/** Page without the sidebar: sign-in, sign-up, invitations, the first workspace. */
export const CenteredPage = ({
  title,
  hint,
  children,
  footer,
}: {
  title: ReactNode
  hint?: ReactNode
  children: ReactNode
  footer?: ReactNode
}) => (
  <main className="h-full overflow-y-auto bg-canvas">
    <div className="mx-auto flex min-h-full w-full max-w-[400px] flex-col justify-center px-5 py-10">
      <div className="mb-7 flex items-center gap-2.5">
        <img src="/assets/baton.svg" alt="" width={28} height={28} />
        <span className="text-lg font-semibold">Baton</span>
      </div>
      <h1 className="text-2xl font-semibold tracking-tight">{title}</h1>
      {hint && <p className="mt-1.5 text-base text-ink-2">{hint}</p>}
      <div className="mt-6">{children}</div>
      {footer && <div className="mt-6 border-t pt-4 text-ink-2">{footer}</div>}
    </div>
  </main>
)

export const inlineLink = 'font-medium text-accent-ink underline underline-offset-2'
