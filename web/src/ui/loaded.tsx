import type { ReactNode } from 'react'
import { Failed, Skeletons } from './states.tsx'

/** Renders the data of a query; until it is loaded, placeholder rows or the error. */
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
