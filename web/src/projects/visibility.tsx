import type { Project } from '@baton/protocol'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { loadIssues } from '../data/issues.ts'
import { putProject } from '../data/projects.ts'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { showToast } from '../ui/toast.tsx'

/** Asks for confirmation before the visibility changes, because people and agents lose or gain access. */
export function useVisibilityDialog({ id, title }: Project) {
  const [wanted, confirm] = useState<boolean | null>(null)
  const dialog = (
    <Confirm
      open={wanted !== null}
      onClose={() => confirm(null)}
      title={wanted ? `Make “${isolated(title)}” private?` : `Share “${isolated(title)}” with the workspace?`}
      action={wanted ? 'Make private' : 'Share'}
      danger={wanted === true}
      onConfirm={async () => {
        if (wanted === null) return
        putProject(await api.updateProject({ project_id: id, personal: wanted }))
        if (wanted) void loadIssues()
        showToast(wanted ? 'The project is private' : 'The project is visible to the workspace')
      }}
    >
      <p>
        {wanted
          ? 'Only you will see it. Its teams, its members and the issues of others are removed from it, and agents working on it stop.'
          : 'All members of the workspace will see it and its comments. Agents can then be mentioned in it.'}
      </p>
    </Confirm>
  )
  return { confirm, dialog }
}
