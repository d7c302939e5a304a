import type { Project } from '@baton/protocol'
import { Link, useNavigate } from '@tanstack/react-router'
import { Ellipsis, Link as LinkIcon, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { loadIssues } from '../data/issues.ts'
import { forgetProject } from '../data/projects.ts'
import { IconButton } from '../ui/button.tsx'
import { copy } from '../ui/copy.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Menu } from '../ui/menu.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { showToast } from '../ui/toast.tsx'

export function ProjectHeader({ project }: { project: Project }) {
  const navigate = useNavigate()
  const [deleting, setDeleting] = useState(false)
  const copyLink = async () => {
    if (await copy(project.url)) showToast('Link copied')
  }
  useCommands([
    {
      id: 'project.back',
      title: 'Back to projects',
      section: 'Project',
      keys: 'escape',
      hidden: true,
      run: () => void navigate({ to: '/projects' }),
    },
    {
      id: 'project.copy-link',
      title: 'Copy link',
      section: 'Project',
      keys: 'mod+shift+c',
      run: () => void copyLink(),
    },
    { id: 'project.delete', title: 'Delete project…', section: 'Project', run: () => setDeleting(true) },
  ])
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-b px-4 max-md:pl-13">
      <h1 className="min-w-0 flex-1 text-sm font-semibold">
        <Crumbs
          above={[
            <Link key="projects" to="/projects">
              Projects
            </Link>,
          ]}
        >
          {project.title}
        </Crumbs>
      </h1>
      <IconButton label="Copy link" icon={LinkIcon} command="project.copy-link" onClick={() => void copyLink()} />
      <Menu
        label="Project actions"
        trigger={<IconButton label="Project actions" icon={Ellipsis} />}
        items={[{ label: 'Delete project…', icon: Trash2, danger: true, onPick: () => setDeleting(true) }]}
      />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this project?"
        typed={project.title}
        action="Delete project"
        onConfirm={async () => {
          await api.deleteProject({ project_id: project.id })
          await navigate({ to: '/projects' })
          forgetProject(project.id)
          void loadIssues()
          showToast(`${isolated(project.title)} deleted`)
        }}
      >
        <p>
          Its comments and milestones are deleted with it, and agents working on it stop. Its issues stay, without a
          project. This cannot be undone.
        </p>
      </Confirm>
    </header>
  )
}
