import type { AgentActivity } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** All activities of a session in order. Requests only those after the last known one. */
export const activitiesQuery = (id: string) =>
  queryOptions({
    queryKey: ['activities', id],
    queryFn: async ({ client }): Promise<AgentActivity[]> => {
      const known = client.getQueryData<AgentActivity[]>(['activities', id]) ?? []
      const read = [...known]
      for (;;) {
        const after_seq = read.at(-1)?.seq ?? 0
        const { data, has_more } = await api.listActivities({ session_id: id, after_seq, limit: limits.activitiesPage })
        read.push(...data)
        if (!has_more) return markSuperseded(read)
      }
    },
  })

/** An app's next activity supersedes an ephemeral one; activities read earlier do not have `superseded_by_seq` yet. */
const markSuperseded = (activities: AgentActivity[]) => {
  const next = (from: number) => activities.slice(from + 1).find(({ author }) => author.kind === 'app')?.seq
  return activities.map((activity, index) => {
    const by = activity.ephemeral && activity.superseded_by_seq === null ? next(index) : undefined
    return by === undefined ? activity : { ...activity, superseded_by_seq: by }
  })
}
