import type { Issue } from '@baton/protocol'
import { api, isBatonError } from '../../data/api.ts'
import { removeIssue } from '../../data/issues.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { isolated } from '../../ui/isolated.ts'
import { showToast } from '../../ui/toast.tsx'
import { nameOfAll } from './field-menu.ts'

interface Props {
  issues: readonly Issue[]
  onClose: () => void
  /** Leaves the page of a deleted issue. */
  onDeleted?: () => unknown
}

/** Asks for confirmation. Each issue is removed from the screen after the server has deleted it. */
export function DeleteIssues({ issues, onClose, onDeleted }: Props) {
  const [first] = issues
  const remove = async () => {
    const outcomes = await Promise.allSettled(issues.map(deleteOne))
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')
    if (!refused) await onDeleted?.()
    issues.forEach(({ id }, index) => {
      if (outcomes[index]?.status === 'fulfilled') removeIssue(id)
    })
    if (refused) throw refused.reason
    showToast(`${nameOfAll(issues)} deleted`)
  }
  return (
    <Confirm
      open={issues.length > 0}
      onClose={onClose}
      title={issues.length === 1 ? `Delete ${first?.code}?` : `Delete ${issues.length} issues?`}
      action={issues.length === 1 ? 'Delete issue' : `Delete ${issues.length} issues`}
      onConfirm={remove}
    >
      <p>
        {issues.length === 1
          ? `“${isolated(first?.title)}” and its comments are deleted permanently.`
          : 'The issues and their comments are deleted permanently.'}{' '}
        Agents working on {issues.length === 1 ? 'it' : 'them'} are stopped.
      </p>
    </Confirm>
  )
}

async function deleteOne({ id }: Issue) {
  try {
    await api.deleteIssue({ issue_id: id })
  } catch (error) {
    // Already deleted by another user.
    if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
  }
}
