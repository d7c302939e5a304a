import type { GuidanceDraft, GuidancePreview as Previewed } from '@baton/protocol'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../data/api.ts'
import { Block } from '../ui/copy.tsx'
import { messageOf } from '../ui/problem.ts'
import { Notice, Skeletons } from '../ui/states.tsx'

const waitMs = 300

/** What it is once nothing was typed for a moment. */
function useSettled(text: string) {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), waitMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** The very text an agent would get now, with what has not been saved yet. */
export function GuidancePreview({ teamId, draft }: { teamId: string; draft: GuidanceDraft }) {
  const settled = useSettled(JSON.stringify(draft))
  const { data, error } = useQuery({
    queryKey: ['guidance-preview', teamId, settled],
    queryFn: () => api.previewGuidance({ team_id: teamId, ...(JSON.parse(settled) as GuidanceDraft) }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const last = useRef(data)
  if (data) last.current = data
  const shown = data ?? last.current
  return (
    <div className="space-y-2">
      {error && <Notice tone="bad">{messageOf(error)}</Notice>}
      {shown ? <Preview preview={shown} /> : !error && <Skeletons rows={4} />}
    </div>
  )
}

const Preview = ({ preview: { example, prompt_context } }: { preview: Previewed }) => (
  <>
    <p className="text-ink-2">
      {example ? (
        <>
          As an agent would get it with {example.identifier}, “{example.title}”.
        </>
      ) : (
        'As an agent would get it with an issue of this team; it has none yet, so one was invented.'
      )}
    </p>
    <Block text={prompt_context} label="what agents get" />
  </>
)
