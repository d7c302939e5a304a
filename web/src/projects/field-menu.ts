import type { Project } from '@baton/protocol'
import type { Directory } from '../issues/fields/directory.ts'
import { fieldMenu } from '../issues/fields/menu.ts'
import { usePicker } from '../ui/picker.tsx'
import { editProject, knownProject } from './edit-project.ts'
import type { ProjectField } from './fields.tsx'

type Apply = (change: { personal?: boolean }) => void

/** Opens the menu of a project's field beside an element. A field that needs a confirmation is passed to `confirm`. */
export function useProjectFieldMenu(directory: Directory, confirm?: Apply) {
  const ask = usePicker()
  return (field: ProjectField, anchor: Element | null, project: Project) => {
    const latest = () => knownProject(project.id) ?? project
    const menu = fieldMenu(field, [project], directory, {
      title: field.label,
      name: field.label,
      latest: () => [latest()],
      apply: (change, done) =>
        field.confirms ? confirm?.(change(latest())) : editProject(project.id, change(latest()), done),
    })
    ask(anchor, menu)
  }
}
