import type { Project } from '@baton/protocol'
import { forProject, useDirectory } from '../issues/fields/directory.ts'
import { propertyOf } from '../issues/fields/property.tsx'
import { Avatar } from '../ui/avatar.tsx'
import type { Option } from '../ui/picker.tsx'
import type { Property } from '../ui/property-list.tsx'
import { useProjectFieldMenu } from './field-menu.ts'
import { projectFields } from './fields.tsx'

const chips = (options: Option[]) => (
  <span className="flex flex-wrap gap-1 py-1">
    {options.map(({ value, label, icon }) => (
      <span key={value} className="inline-flex h-5 items-center gap-1.5 rounded-full border bg-surface px-2 text-xs">
        {icon}
        {label}
      </span>
    ))}
  </span>
)

/** Two people by name, more by their pictures. */
const faces = (options: Option[]) =>
  options.length <= 2 ? (
    chips(options)
  ) : (
    <span className="flex flex-wrap gap-1 py-1">
      {options.map(({ value, label }) => (
        <span key={value} title={label}>
          <Avatar name={label} size={20} />
        </span>
      ))}
    </span>
  )

/** The fields of a project in the order of the panel. */
export function useProjectProperties(project: Project, confirmVisibility: (personal: boolean) => void): Property[] {
  const directory = useDirectory(forProject)
  const openMenu = useProjectFieldMenu(directory, ({ personal = false }) => confirmVisibility(personal))
  return Object.values(projectFields).map((field) =>
    propertyOf(field, project, directory, (anchor) => openMenu(field, anchor, project), field.faces ? faces : chips),
  )
}
