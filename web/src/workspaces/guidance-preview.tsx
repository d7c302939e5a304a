import type { GuidanceDraft, GuidancePreview as Previewed } from '@baton/protocol'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../data/api.ts'
import { Block } from '../ui/copy.tsx'
import { messageOf } from '../ui/problem.ts'
import { Notice, Skeletons } from '../ui/states.tsx'

const debounceMs = 300

/** Returns the text after a pause in typing. */
function useDebounced(text: string) {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), debounceMs)
    return () => clearTimeout(timer)
  }, [text])
  return debounced
}

/** The exact context an agent would receive, including unsaved changes. */
export function GuidancePreview({ teamId, draft }: { teamId: string; draft: GuidanceDraft }) {
  const debounced = useDebounced(JSON.stringify(draft))
  const { data, error } = useQuery({
    queryKey: ['guidance-preview', teamId, debounced],
    queryFn: () => api.previewGuidance({ team_id: teamId, ...(JSON.parse(debounced) as GuidanceDraft) }),
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
          As an agent receives it with {example.identifier}, “{example.title}”.
        </>
      ) : (
        'As an agent receives it, with a sample issue: this team has no issues yet.'
      )}
    </p>
    <Block text={prompt_context} label="agent context" />
  </>
)
