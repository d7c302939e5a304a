import type { Issue } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { api, rereadKey } from '../../data/api.ts'
import { knownIssue, putAnswer } from '../../data/issues.ts'
import { relatedQuery } from '../../data/related.ts'
import { showError, showToast } from '../../ui/toast.tsx'
import { editIssues } from '../edit/edit.ts'
import { Group, IssueLine } from './issue-line.tsx'

/** Removes the mark of a duplicate. */
async function unmark(duplicateId: string, originalId: string, done?: string) {
  try {
    await api.unmarkDuplicate({ duplicate_id: duplicateId })
    if (done) showToast(done)
  } catch (error) {
    showError(error)
  }
  await rereadBoth(duplicateId, originalId)
}

const rereadBoth = (...ids: string[]) => Promise.all(ids.map((id) => rereadKey('related', id)))

/** Marks an issue as a duplicate. Undo removes the mark and restores the status; an agent does not start again. */
export async function markDuplicate({ id, status }: Issue, originalId: string) {
  try {
    await putAnswer(api.markDuplicate({ duplicate_id: id, issue_id: originalId }))
    showToast(`Marked as a duplicate of ${knownIssue(originalId)?.code ?? 'another issue'}`, {
      undo: () => {
        void unmark(id, originalId)
        if (status !== 'done') void editIssues([id], { status })
      },
    })
  } catch (error) {
    showError(error)
  }
  await rereadBoth(id, originalId)
}

/** The issue that this one is a duplicate of, and its own duplicates. */
export function Duplicates({ issue }: { issue: Issue }) {
  const { data } = useQuery(relatedQuery(issue.id))
  const original = data?.duplicate_of
  return (
    <>
      {original && (
        <Group title="Duplicate of">
          <IssueLine
            id={original.id}
            removeLabel="Not a duplicate of"
            onRemove={() => void unmark(issue.id, original.id, 'No longer marked as a duplicate')}
          />
        </Group>
      )}
      {data && data.duplicates.length > 0 && (
        <Group title="Duplicates">
          {data.duplicates.map(({ id, code }) => (
            <IssueLine
              key={id}
              id={id}
              removeLabel="Not a duplicate:"
              onRemove={() => void unmark(id, issue.id, `${code} is no longer marked as a duplicate`)}
            />
          ))}
        </Group>
      )}
    </>
  )
}
