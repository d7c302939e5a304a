import type { IssueTemplate } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { FileText } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { templatesQuery } from '../../data/templates.ts'
import { cx } from '../../ui/class-names.ts'
import { none, usePicker } from '../../ui/picker.tsx'
import { applyTemplate, defaultTemplate, templatesFor } from './apply-template.ts'
import type { Draft } from './draft.ts'

interface Props {
  draft: Draft
  change: (update: (draft: Draft) => Partial<Draft>) => void
  className: string
}

const noTemplates: IssueTemplate[] = []

/** Chooses a template. The default of the team is chosen until the user picks another, or none. */
export function TemplateChoice({ draft, change, className }: Props) {
  const all = useQuery(templatesQuery).data ?? noTemplates
  const ask = usePicker()
  const available = templatesFor(all, draft)
  const [picked, setPicked] = useState<string | null>(null)
  const isPicked = picked === none || available.some(({ id }) => id === picked)
  const template = isPicked ? (available.find(({ id }) => id === picked) ?? null) : defaultTemplate(available)
  const applied = useRef<IssueTemplate | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another template changes the draft
  useEffect(() => {
    if (template === applied.current) return
    const previous = applied.current
    applied.current = template
    change((draft) => applyTemplate(draft, template, previous, all))
  }, [template?.id])
  if (available.length === 0) return null
  const open = (anchor: Element) =>
    ask(anchor, {
      title: 'Template',
      options: [
        { value: none, label: 'No template' },
        ...available.map(({ id, name, team_id }) => ({
          value: id,
          label: name,
          group: team_id ? 'Team' : 'Workspace',
        })),
      ],
      selected: [template?.id ?? none],
      onPick: setPicked,
    })
  return (
    <button
      type="button"
      aria-label={`Template: ${template?.name ?? 'none'}`}
      onClick={({ currentTarget }) => open(currentTarget)}
      className={cx(className, template ? 'text-ink' : 'text-ink-3')}
    >
      <FileText size={13} aria-hidden className="shrink-0 text-ink-3" />
      <span className="truncate">{template?.name ?? 'Template'}</span>
    </button>
  )
}
