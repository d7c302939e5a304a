import type { ReactNode } from 'react'
import { Failed, Skeletons } from './states.tsx'

/** What was asked for once it is there; until then its shape, or why it cannot be shown. */
export function Loaded<Data>({
  query,
  rows,
  children,
}: {
  query: { data: Data | undefined; isError: boolean; error: unknown; refetch: () => unknown }
  rows?: number
  children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  return <Skeletons {...(rows ? { rows } : {})} />
}
