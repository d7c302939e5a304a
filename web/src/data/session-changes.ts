import type { AgentSession } from '@baton/protocol'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** The changes of a session. Each version is read once; the previous one stays on the screen until it is there. */
export const changesQuery = ({ id, changes }: AgentSession) =>
  queryOptions({
    queryKey: ['changes', id, changes?.version ?? 0],
    queryFn: () => api.getSessionChanges({ session_id: id }),
    enabled: changes !== null,
    staleTime: Number.POSITIVE_INFINITY,
    // A version can have half a megabyte.
    gcTime: 10_000,
    placeholderData: keepPreviousData,
  })
