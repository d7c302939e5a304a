import type { Label } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ellipsis, GitMerge, Pencil, Plus, Tag, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { labelsQuery } from '../data/planning.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Input } from '../ui/field.tsx'
import { isolated } from '../ui/isolated.ts'
import { Page, Rows } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Menu } from '../ui/menu.tsx'
import { usePicker } from '../ui/picker.tsx'
import { Empty } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { LabelDot } from './label-dot.tsx'
import { LabelForm } from './label-form.tsx'

type Doing =
  | { what: 'create' }
  | { what: 'edit' | 'delete'; label: Label }
  | { what: 'merge'; label: Label; into: Label }

export function LabelsScreen() {
  const labels = useQuery(labelsQuery)
  const [doing, setDoing] = useState<Doing | null>(null)
  const [search, setSearch] = useState('')
  const pick = usePicker()
  const chooseTarget = (anchor: Element, label: Label) =>
    pick(anchor, {
      title: `Merge ${isolated(label.name)} into`,
      options: sorted(labels.data ?? [])
        .filter(({ id }) => id !== label.id)
        .map(({ id, name, color }) => ({ value: id, label: name, icon: <LabelDot color={color} /> })),
      empty: 'No other label.',
      onPick: (id) => {
        const into = labels.data?.find((other) => other.id === id)
        if (into) setDoing({ what: 'merge', label, into })
      },
    })
  const close = () => setDoing(null)
  return (
    <Page
      title="Labels"
      width="reading"
      actions={
        <Button look="primary" icon={Plus} onClick={() => setDoing({ what: 'create' })}>
          New label
        </Button>
      }
    >
      <Loaded query={labels}>
        {(labels) =>
          labels.length === 0 ? (
            <Empty icon={Tag} title="No labels yet">
              A label marks issues and projects of any team, such as “bug” or “customer”.
            </Empty>
          ) : (
            <>
              <Input
                type="search"
                aria-label="Find a label"
                placeholder="Find a label…"
                value={search}
                onChange={(event) => setSearch(event.target.value)}
              />
              <Rows label="Labels">
                {matching(labels, search).map((label) => (
                  <LabelRow
                    key={label.id}
                    label={label}
                    onEdit={() => setDoing({ what: 'edit', label })}
                    onMerge={(anchor) => chooseTarget(anchor, label)}
                    onDelete={() => setDoing({ what: 'delete', label })}
                  />
                ))}
                {matching(labels, search).length === 0 && <li className="px-4 py-3 text-ink-3">No label matches.</li>}
              </Rows>
            </>
          )
        }
      </Loaded>
      {(doing?.what === 'create' || doing?.what === 'edit') && (
        <LabelForm
          {...(doing.what === 'edit' && { label: doing.label })}
          labels={labels.data ?? []}
          onMerge={(label, into) => setDoing({ what: 'merge', label, into })}
          onClose={close}
        />
      )}
      <Confirm
        open={doing?.what === 'delete'}
        onClose={close}
        title={`Delete ${doing?.what === 'delete' ? doing.label.name : ''}?`}
        action="Delete label"
        onConfirm={async () => {
          if (doing?.what !== 'delete') return
          await api.deleteLabel({ label_id: doing.label.id })
          await rereadKey('workspace', 'labels')
          showToast(`${isolated(doing.label.name)} deleted`)
        }}
      >
        <p>It is removed from every issue and project. This cannot be undone.</p>
      </Confirm>
      <Confirm
        open={doing?.what === 'merge'}
        onClose={close}
        title={doing?.what === 'merge' ? `Merge ${isolated(doing.label.name)} into ${isolated(doing.into.name)}?` : ''}
        action="Merge labels"
        onConfirm={async () => {
          if (doing?.what !== 'merge') return
          await api.mergeLabel({ label_id: doing.label.id, into_label_id: doing.into.id })
          await rereadKey('workspace', 'labels')
          showToast(`${isolated(doing.label.name)} merged into ${isolated(doing.into.name)}`)
        }}
      >
        {doing?.what === 'merge' && (
          <p>
            Every issue and project with {doing.label.name} gets {doing.into.name} instead, and {doing.label.name} is
            deleted. This cannot be undone.
          </p>
        )}
      </Confirm>
    </Page>
  )
}

const sorted = (labels: readonly Label[]) => [...labels].sort((a, b) => a.name.localeCompare(b.name))

const matching = (labels: readonly Label[], search: string) =>
  sorted(labels).filter(({ name }) => name.toLowerCase().includes(search.trim().toLowerCase()))

interface RowProps {
  label: Label
  onEdit: () => void
  onMerge: (anchor: Element) => void
  onDelete: () => void
}

function LabelRow({ label, onEdit, onMerge, onDelete }: RowProps) {
  const [row, setRow] = useState<HTMLLIElement | null>(null)
  return (
    <li ref={setRow} className="flex items-center gap-3 py-1.5 pr-2 pl-4">
      <LabelDot color={label.color} />
      <Link to="/issues" search={{ label: label.id }} className="min-w-0 flex-1 truncate font-medium hover:underline">
        {label.name}
      </Link>
      <Button size="sm" look="quiet" aria-label={`Edit ${isolated(label.name)}`} onClick={onEdit}>
        Edit
      </Button>
      <Menu
        label={`Actions for ${isolated(label.name)}`}
        trigger={<IconButton label={`Actions for ${isolated(label.name)}`} icon={Ellipsis} />}
        items={[
          { label: 'Rename or recolour…', icon: Pencil, onPick: onEdit },
          { label: 'Merge into…', icon: GitMerge, onPick: () => row && onMerge(row) },
          null,
          { label: 'Delete label…', icon: Trash2, danger: true, onPick: onDelete },
        ]}
      />
    </li>
  )
}
