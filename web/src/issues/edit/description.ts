import type { Issue } from '@baton/protocol'
import { isBatonError } from '../../data/api.ts'
import { refreshIssue } from '../../data/issues.ts'
import { showToast } from '../../ui/toast.tsx'
import { editIssues } from './edit.ts'

/**
 * Saves a description, unless another user changed it and the change has not reached this browser yet. Then the issue is
 * read again, so that the editor shows the conflict.
 */
export const saveDescription = (issue: Issue, description: string, done: string) =>
  editIssues([issue.id], { description, if_updated_at: issue.updated_at }, done, (error) => {
    if (!isBatonError(error, 'EDIT_CONFLICT')) return false
    void refreshIssue(issue.id)
    showToast('Another user changed the description. Compare it with your text, then save again.', { tone: 'bad' })
    return true
  })
