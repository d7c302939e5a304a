import type { Issue } from '@baton/protocol'
import { ArrowRightToLine, Bot, Box, CircleDashed, CircleUser, SignalHigh, Tag, Trash2, X } from 'lucide-react'
import { Button, IconButton } from '../ui/button.tsx'

export type Deed = 'status' | 'priority' | 'assignee' | 'label' | 'delegate' | 'project' | 'move' | 'delete'

const deeds = [
  { deed: 'status', label: 'Status', icon: CircleDashed, command: 'issues.status' },
  { deed: 'priority', label: 'Priority', icon: SignalHigh, command: 'issues.priority' },
  { deed: 'assignee', label: 'Assignee', icon: CircleUser, command: 'issues.assignee' },
  { deed: 'label', label: 'Labels', icon: Tag, command: 'issues.labels' },
  { deed: 'delegate', label: 'Delegate', icon: Bot, command: 'issues.delegate' },
  { deed: 'project', label: 'Project', icon: Box, command: 'issues.project' },
  { deed: 'move', label: 'Move to…', icon: ArrowRightToLine, command: 'issues.move' },
] as const

interface Props {
  issues: readonly Issue[]
  onDo: (deed: Deed, anchor: Element) => void
  onClear: () => void
}

/** What can be done with all that are chosen. */
export function SelectionBar({ issues, onDo, onClear }: Props) {
  if (issues.length === 0) return null
  return (
    <div className="pointer-events-none absolute inset-x-2 bottom-3 z-20 flex justify-center">
      <div
        role="toolbar"
        aria-label={`${issues.length} selected`}
        className="pointer-events-auto flex max-w-full items-center gap-0.5 overflow-x-auto rounded-lg bg-raised p-1 pl-3 shadow-pop"
      >
        <span aria-live="polite" className="mr-2 font-medium whitespace-nowrap tabular">
          {issues.length.toLocaleString('en')}
          <span className="max-sm:sr-only"> selected</span>
        </span>
        {deeds.map(({ deed, label, icon, command }) => (
          <Button
            key={deed}
            look="quiet"
            size="sm"
            icon={icon}
            aria-label={label}
            command={command}
            onClick={({ currentTarget }) => onDo(deed, currentTarget)}
          >
            <span className="max-lg:hidden">{label}</span>
          </Button>
        ))}
        <IconButton
          label="Delete"
          icon={Trash2}
          command="issues.delete"
          onClick={({ currentTarget }) => onDo('delete', currentTarget)}
        />
        <IconButton label="Clear selection" icon={X} command="issues.escape" onClick={onClear} />
      </div>
    </div>
  )
}
