import type { GuidanceDraft } from '@baton/protocol'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { api } from '../api.ts'
import { Block } from '../ui/copy.tsx'
import { Failed, Skeletons } from '../ui/states.tsx'

/** The very text an agent would get now, with what has not been saved yet. */
export function GuidancePreview({ teamId, draft }: { teamId: string; draft: GuidanceDraft }) {
  const settled = useDeferredValue(JSON.stringify(draft))
  const { data, error } = useQuery({
    queryKey: ['guidance-preview', teamId, settled],
    queryFn: () => api.previewGuidance({ team_id: teamId, ...(JSON.parse(settled) as GuidanceDraft) }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  if (error) return <Failed error={error} />
  if (!data) return <Skeletons rows={4} />
  return (
    <div className="space-y-2">
      <p className="text-ink-2">
        {data.example ? (
          <>
            As an agent would get it with {data.example.identifier}, “{data.example.title}”.
          </>
        ) : (
          'As an agent would get it with an issue of this team; it has none yet, so one was invented.'
        )}
      </p>
      <Block text={data.prompt_context} label="what agents get" />
    </div>
  )
}
