import type { IssueTemplate } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { FileText, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, rereadKey } from '../../data/api.ts'
import { templatesQuery } from '../../data/templates.ts'
import { useTeams } from '../../data/workspaces.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Page, Rows, Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Empty } from '../../ui/states.tsx'
import { showToast } from '../../ui/toast.tsx'
import { TemplateForm } from './template-form.tsx'

type Doing = { what: 'create' } | { what: 'edit' | 'delete'; template: IssueTemplate }

export function TemplatesScreen() {
  const templates = useQuery(templatesQuery)
  const teams = useTeams()
  const [doing, setDoing] = useState<Doing | null>(null)
  const close = () => setDoing(null)
  const groups = [{ id: null as string | null, name: 'All teams' }, ...teams]
  return (
    <Page
      title="Templates"
      width="reading"
      actions={
        <Button look="primary" icon={Plus} onClick={() => setDoing({ what: 'create' })}>
          New template
        </Button>
      }
    >
      <Loaded query={templates}>
        {(templates) =>
          templates.length === 0 ? (
            <Empty icon={FileText} title="No templates yet">
              A template prefills the form of a new issue, such as a bug report with its steps.
            </Empty>
          ) : (
            groups.map(({ id, name }) => {
              const own = templates.filter(({ team_id }) => team_id === id)
              return (
                own.length > 0 && (
                  <Section key={id} title={<bdi>{name}</bdi>}>
                    <Rows label={`Templates of ${isolated(name)}`}>
                      {own.map((template) => (
                        <TemplateRow
                          key={template.id}
                          template={template}
                          onEdit={() => setDoing({ what: 'edit', template })}
                          onDelete={() => setDoing({ what: 'delete', template })}
                        />
                      ))}
                    </Rows>
                  </Section>
                )
              )
            })
          )
        }
      </Loaded>
      {(doing?.what === 'create' || doing?.what === 'edit') && (
        <TemplateForm {...(doing.what === 'edit' && { template: doing.template })} onClose={close} />
      )}
      <Confirm
        open={doing?.what === 'delete'}
        onClose={close}
        title={`Delete ${doing?.what === 'delete' ? isolated(doing.template.name) : ''}?`}
        action="Delete template"
        onConfirm={async () => {
          if (doing?.what !== 'delete') return
          await api.deleteTemplate({ template_id: doing.template.id })
          await rereadKey('workspace', 'templates')
          showToast(`${isolated(doing.template.name)} deleted`)
        }}
      >
        <p>Issues created with it stay as they are. This cannot be undone.</p>
      </Confirm>
    </Page>
  )
}

interface RowProps {
  template: IssueTemplate
  onEdit: () => void
  onDelete: () => void
}

const TemplateRow = ({ template, onEdit, onDelete }: RowProps) => (
  <li className="flex items-center gap-3 py-1.5 pr-2 pl-4">
    <span className="min-w-0 flex-1 truncate">
      <bdi className="font-medium">{template.name}</bdi>
      {template.default && <span className="ml-2 text-xs text-ink-3">Default</span>}
    </span>
    <Button size="sm" look="quiet" aria-label={`Edit ${isolated(template.name)}`} onClick={onEdit}>
      Edit
    </Button>
    <IconButton label={`Delete ${isolated(template.name)}`} icon={Trash2} onClick={onDelete} />
  </li>
)
