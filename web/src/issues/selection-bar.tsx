import type { Issue } from '@baton/protocol'
import { ArrowRightToLine, Trash2, X } from 'lucide-react'
import { Button, IconButton } from '../ui/button.tsx'
import { type Action, bulkFields } from './row-actions.ts'

const actions: { id: Action; label: string; icon: typeof X }[] = [
  ...bulkFields,
  { id: 'move', label: 'Move to…', icon: ArrowRightToLine },
]

interface Props {
  issues: readonly Issue[]
  onAction: (action: Action, anchor: Element) => void
  onClear: () => void
}

/** Actions on the selected issues. */
export function SelectionBar({ issues, onAction, onClear }: Props) {
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
        {actions.map(({ id, label, icon }) => (
          <Button
            key={id}
            look="quiet"
            size="sm"
            icon={icon}
            aria-label={label}
            command={`issues.${id}`}
            onClick={({ currentTarget }) => onAction(id, currentTarget)}
          >
            <span className="max-lg:hidden">{label}</span>
          </Button>
        ))}
        <IconButton
          label="Delete"
          icon={Trash2}
          command="issues.delete"
          onClick={({ currentTarget }) => onAction('delete', currentTarget)}
        />
        <IconButton label="Clear selection" icon={X} command="issues.escape" onClick={onClear} />
      </div>
    </div>
  )
}
