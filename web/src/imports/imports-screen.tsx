import type { Import, ImportCount, ImportSource } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Download, Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { importsQuery, refreshImports, uploadImportFile } from '../data/imports.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DocsLink } from '../ui/docs-link.tsx'
import { Choices, Field, Input } from '../ui/field.tsx'
import { FileInput } from '../ui/file-input.tsx'
import { useForm } from '../ui/form.ts'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { counted, sourceNames, stateNames, whyManagers } from './labels.ts'

export function ImportsScreen() {
  const { isManager } = useMe()
  return isManager ? <Imports /> : <ManagersOnly title="Import" reason={whyManagers} />
}

function Imports() {
  const imports = useQuery(importsQuery)
  const [creating, setCreating] = useState(false)
  const create = () => setCreating(true)
  useCommands([{ id: 'import.create', title: 'Import issues', section: 'Create', run: create }])
  const button = (
    <Button look="primary" icon={Plus} onClick={create}>
      Import issues
    </Button>
  )
  return (
    <Page title="Import" actions={button}>
      <Loaded query={imports}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={Download} title="No imports" action={button}>
              Bring issues from Linear, GitHub, Jira or a CSV file. A preview shows what would be imported.{' '}
              <DocsLink page="importing">How to get the file</DocsLink>
            </Empty>
          ) : (
            <List imports={list} />
          )
        }
      </Loaded>
      {creating && <CreateImport onClose={() => setCreating(false)} />}
    </Page>
  )
}

function List({ imports }: { imports: Import[] }) {
  const { list } = useRows('import')
  return (
    <ul {...list} aria-label="Imports" className="divide-y border-b">
      {imports.map(({ id, source, state, counts, problem_count }) => (
        <li key={id} className={rowItem}>
          <Link
            data-row={id}
            to="/settings/import/$importId"
            params={{ importId: id }}
            className="flex h-9 items-center gap-3 px-4 outline-hidden"
          >
            <span className="min-w-0 flex-1 truncate">
              <span className="font-medium">{sourceNames[source]}</span>{' '}
              <span className="text-ink-3 max-sm:hidden">{shownCounts(counts.issues, problem_count)}</span>
            </span>
            <Pill tone={state === 'failed' ? 'bad' : state === 'done' ? 'ok' : 'neutral'}>{stateNames[state]}</Pill>
          </Link>
        </li>
      ))}
    </ul>
  )
}

const shownCounts = ({ created, updated, unchanged }: ImportCount, problems: number) =>
  [
    `${counted(created, 'issue')} created`,
    updated > 0 && `${updated.toLocaleString('en')} updated`,
    unchanged > 0 && `${unchanged.toLocaleString('en')} unchanged`,
    problems > 0 && counted(problems, 'problem'),
  ]
    .filter(Boolean)
    .join(', ')

const choices: { value: ImportSource; label: string; hint: string }[] = [
  { value: 'linear', label: 'Linear', hint: 'The exported CSV, or an API key.' },
  { value: 'github', label: 'GitHub', hint: 'JSON of gh or the REST API, or a repository and a token.' },
  { value: 'jira', label: 'Jira', hint: 'The CSV with all fields.' },
  { value: 'csv', label: 'CSV', hint: 'Any CSV with a header.' },
]

function CreateImport({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [source, setSource] = useState<ImportSource>('linear')
  const [files, setFiles] = useState<File[]>([])
  const [key, setKey] = useState('')
  const [repository, setRepository] = useState('')
  const [share, setShare] = useState<number | null>(null)
  const hasApi = source === 'linear' || source === 'github'
  const form = useForm(async () => {
    const fromApi = hasApi && key !== ''
    const { id } = await api.createImport({
      source,
      ...(fromApi && { key }),
      ...(fromApi && source === 'github' && { repository }),
    })
    if (!fromApi) {
      for (const [index, file] of files.entries()) {
        await uploadImportFile(id, file, (part) => setShare((index + part) / files.length))
      }
    }
    await api.readImport({ import_id: id })
    await refreshImports()
    await navigate({ to: '/settings/import/$importId', params: { importId: id } })
  }, ['key', 'repository'])
  return (
    <Dialog
      open
      onClose={onClose}
      title="Import issues"
      description="Nothing is imported until you start the import on the next page."
      footer={
        <Button
          look="primary"
          busy={form.busy}
          disabled={files.length === 0 && key === ''}
          onClick={() => form.submit()}
        >
          Read
        </Button>
      }
    >
      <form onSubmit={form.submit} className="space-y-4">
        <Choices label="Source" name="source" value={source} onChange={setSource} choices={choices} />
        <Field label="Files" hint="Up to 20 files of 200 MB.">
          <FileInput
            multiple
            accept={source === 'github' ? '.json,.jsonl,.ndjson' : '.csv,.txt,.tsv'}
            onChoose={setFiles}
          />
        </Field>
        {hasApi && (
          <Field
            label={source === 'linear' ? 'API key' : 'Token'}
            optional
            error={form.errors.key}
            hint="Instead of files. It is erased after the data is fetched."
          >
            <Input type="password" autoComplete="off" value={key} onChange={({ target }) => setKey(target.value)} />
          </Field>
        )}
        {source === 'github' && key !== '' && (
          <Field label="Repository" error={form.errors.repository}>
            <Input placeholder="acme/shop" value={repository} onChange={({ target }) => setRepository(target.value)} />
          </Field>
        )}
        {share !== null && <progress value={share} aria-label="Upload" className="h-1.5 w-full accent-(--accent)" />}
        {form.problem && (
          <p role="alert" className="text-bad-ink">
            {form.problem}
          </p>
        )}
      </form>
    </Dialog>
  )
}
