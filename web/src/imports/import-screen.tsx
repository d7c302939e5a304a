import type { Import, ImportColumn, ImportKind, ImportMappingChange } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { importQuery, refreshImports } from '../data/imports.ts'
import { useMe } from '../data/me.ts'
import { membersQuery, useTeams } from '../data/workspaces.ts'
import { priorities, statuses, types } from '../issues/fields/values.tsx'
import { useAction } from '../ui/action.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Checkbox, Field, Input, Select } from '../ui/field.tsx'
import { Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { fieldErrors, messageOf } from '../ui/problem.ts'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { columnNames, kindNames, sourceNames, stateNames, whyManagers } from './labels.ts'
import { useMappingChanges } from './mapping-changes.ts'
import { Problems } from './problems.tsx'
import { importsNothing, whySkipped } from './skipped.ts'

export function ImportScreen() {
  const { isManager } = useMe()
  return isManager ? <One /> : <ManagersOnly title="Import" reason={whyManagers} />
}

function One() {
  const { importId } = useParams({ from: '/person/inside/settings/import/$importId' })
  const one = useQuery(importQuery(importId))
  return <Loaded query={one}>{(found) => <Details one={found} />}</Loaded>
}

function Details({ one }: { one: Import }) {
  const navigate = useNavigate()
  const [deleting, setDeleting] = useState(false)
  const id = { import_id: one.id }
  const isBusy = one.state === 'reading' || one.state === 'running'
  const isEmpty = importsNothing(one)
  const mapping = useMappingChanges(one.id, one.mapping)
  const act = useAction(async (work: () => Promise<unknown>) => {
    if (!(await mapping.settled())) return
    await work()
    await refreshImports()
  })
  const remove = async () => {
    await api.deleteImport(id)
    await navigate({ to: '/settings/import' })
    await refreshImports()
  }
  const actions = isBusy ? (
    <Button onClick={() => act.run(() => api.cancelImport(id))}>Cancel</Button>
  ) : (
    <>
      <Button look="quiet" onClick={() => setDeleting(true)}>
        Delete
      </Button>
      <Button busy={act.busy} onClick={() => act.run(() => api.readImport(id))}>
        Preview again
      </Button>
      {one.state === 'done' ? (
        <Link to="/issues" className={buttonClass('primary')}>
          Show issues
        </Link>
      ) : (
        <Button
          look="primary"
          busy={act.busy}
          disabled={one.state === 'uploading' || isEmpty}
          aria-describedby={isEmpty ? whySkippedId : undefined}
          onClick={() => act.run(() => api.startImport(id))}
        >
          Start import
        </Button>
      )}
    </>
  )
  return (
    <Page title={`Import from ${sourceNames[one.source]}`} actions={actions} width="reading">
      <Progress one={one} />
      <Failure error={mapping.error ?? act.error} />
      {!isBusy && <Counts one={one} isEmpty={isEmpty} />}
      {!isBusy && <Mapping one={{ ...one, mapping: mapping.shown }} onChange={mapping.change} />}
      {one.problem_count > 0 && <Problems one={one} />}
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this import?"
        action="Delete import"
        onConfirm={remove}
      >
        <p>Its files, mapping and problems are deleted. Imported issues stay.</p>
      </Confirm>
    </Page>
  )
}

function Failure({ error }: { error: unknown }) {
  if (error === null) return null
  const fields = Object.entries(fieldErrors(error))
  return (
    <p role="alert" className="whitespace-pre-line text-bad-ink">
      {fields.length > 0
        ? fields.map(([field, message]) => `${field.replace('mapping.', '')}: ${message}`).join('\n')
        : messageOf(error)}
    </p>
  )
}

function Progress({ one }: { one: Import }) {
  const { state, phase, done, total } = one
  const text = phase ? `${stateNames[state]}: ${phase}${total > 0 ? `, ${done} of ${total}` : ''}` : stateNames[state]
  return (
    <div role="status" className="space-y-2">
      <p className="font-medium">{text}</p>
      {phase && (
        <progress
          aria-label="Progress"
          className="h-1.5 w-full accent-(--accent)"
          max={total || 1}
          value={total > 0 ? done : undefined}
        />
      )}
      {state === 'ready' && <p className="text-ink-2">This is a preview. Nothing has been imported yet.</p>}
    </div>
  )
}

const shownCounts = ['created', 'updated', 'unchanged', 'skipped'] as const

const whySkippedId = 'why-skipped'

function Counts({ one, isEmpty }: { one: Import; isEmpty: boolean }) {
  const why = whySkipped(one)
  const kinds = (Object.keys(kindNames) as ImportKind[]).filter((kind) =>
    shownCounts.some((name) => one.counts[kind][name] > 0),
  )
  if (kinds.length === 0) return null
  return (
    <Section title={one.state === 'ready' ? 'Preview' : 'Result'}>
      <table className="w-full text-left">
        <thead className="text-xs text-ink-2">
          <tr>
            <th className="py-1 font-medium">Kind</th>
            {shownCounts.map((name) => (
              <th key={name} className="py-1 text-right font-medium capitalize">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y border-y">
          {kinds.map((kind) => (
            <tr key={kind}>
              <th className="py-1 font-normal">{kindNames[kind]}</th>
              {shownCounts.map((name) => (
                <td key={name} className="py-1 text-right tabular-nums">
                  {one.counts[kind][name]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {why && (
        <p id={whySkippedId} className={isEmpty ? 'text-warn-ink' : 'text-ink-2'}>
          {isEmpty && 'Nothing would be imported. '}
          {why}
        </p>
      )}
    </Section>
  )
}

const fieldsOfRow = Object.keys(columnNames) as ImportColumn[]

interface MappingProps {
  one: Import
  onChange: (mapping: ImportMappingChange) => void
}

function Mapping({ one, onChange }: MappingProps) {
  const { mapping, columns } = one
  const teams = useTeams()
  const members = useQuery(membersQuery).data ?? []
  const teamOptions = teams.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Section title="Mapping" hint="Preview again to see the effect of a change.">
      <div className="space-y-6">
        <Field label="Team for issues without one">
          <Select
            value={mapping.default_team_id ?? ''}
            onChange={({ target }) => onChange({ default_team_id: target.value || null })}
          >
            <option value="">None</option>
            {teamOptions.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        {columns.length > 0 && one.source === 'csv' && (
          <Values
            title="Columns"
            values={Object.fromEntries(fieldsOfRow.map((field) => [field, mapping.columns[field]?.toString() ?? '']))}
            names={columnNames}
            options={[
              { value: '', label: 'None' },
              ...columns.map((label, index) => ({ value: String(index), label })),
            ]}
            onChange={(field, value) => onChange({ columns: { [field]: value === '' ? null : Number(value) } })}
          />
        )}
        <Values
          title="Teams"
          values={mapping.teams}
          options={[{ value: 'create', label: 'Create' }, { value: 'skip', label: 'Skip' }, ...teamOptions]}
          onChange={(name, value) => onChange({ teams: { [name]: value } })}
        />
        <Values
          title="Statuses"
          values={mapping.statuses}
          options={[{ value: '', label: 'Not mapped' }, ...statuses]}
          onChange={(name, value) => onChange({ statuses: { [name]: (value || null) as never } })}
        />
        <Values
          title="Priorities"
          values={mapping.priorities}
          options={[{ value: '', label: 'Not mapped' }, ...priorities]}
          onChange={(name, value) => onChange({ priorities: { [name]: (value || null) as never } })}
        />
        <Values
          title="Types"
          values={mapping.types}
          options={[{ value: '', label: 'Not mapped' }, ...types]}
          onChange={(name, value) => onChange({ types: { [name]: (value || null) as never } })}
        />
        <Values
          title="People"
          values={mapping.users}
          options={[
            { value: '', label: 'Placeholder' },
            ...members.map(({ id, display_name }) => ({ value: id, label: display_name })),
          ]}
          onChange={(name, value) => onChange({ users: { [name]: value || null } })}
        />
        <Values
          title="Labels"
          values={mapping.labels}
          options={[
            { value: 'create', label: 'Create' },
            { value: 'skip', label: 'Skip' },
          ]}
          onChange={(name, value) => onChange({ labels: { [name]: value as 'create' | 'skip' } })}
        />
        <Field label="Dates such as 03/04/2026">
          <Select
            value={mapping.date_order ?? ''}
            onChange={({ target }) => onChange({ date_order: (target.value || null) as never })}
          >
            <option value="">As the dates show</option>
            <option value="day-month">Day first</option>
            <option value="month-day">Month first</option>
          </Select>
        </Field>
        <Field label="Hours per estimate point" optional hint="Without it, points are skipped.">
          <Input
            type="number"
            min="0.1"
            step="0.1"
            defaultValue={mapping.hours_per_point ?? ''}
            onBlur={({ target }) => {
              const hours = target.value === '' ? null : Number(target.value)
              if (hours !== mapping.hours_per_point) onChange({ hours_per_point: hours })
            }}
          />
        </Field>
        <Checkbox
          label="Keep codes"
          hint="In teams without other issues. Otherwise old codes still find the issues."
          checked={mapping.keep_codes}
          onChange={({ target }) => onChange({ keep_codes: target.checked })}
        />
        <Checkbox
          label="Import archived issues"
          checked={mapping.archived}
          onChange={({ target }) => onChange({ archived: target.checked })}
        />
      </div>
    </Section>
  )
}

function Values(props: {
  title: string
  /** In place of the names of the values. */
  names?: Record<string, string>
  values: Record<string, string | null>
  options: { value: string; label: string }[]
  onChange: (name: string, value: string) => void
}) {
  const names = Object.keys(props.values)
  if (names.length === 0) return null
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1 font-medium">{props.title}</legend>
      {names.slice(0, 200).map((name) => (
        <div key={name} className="grid grid-cols-2 items-center gap-3">
          <bdi className="min-w-0 truncate">{props.names?.[name] ?? name}</bdi>
          <Select
            aria-label={`${props.title}: ${props.names?.[name] ?? name}`}
            value={props.values[name] ?? ''}
            onChange={({ target }) => props.onChange(name, target.value)}
          >
            {props.options.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </div>
      ))}
      {names.length > 200 && <p className="text-xs text-ink-3">and {names.length - 200} more, mapped as proposed</p>}
    </fieldset>
  )
}
