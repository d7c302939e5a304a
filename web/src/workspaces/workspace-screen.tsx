import type { Workspace } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, queries } from '../data/api.ts'
import { meQuery } from '../data/me.ts'
import { useTeams, workspaceQuery } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { useDraft } from '../ui/draft.ts'
import { Field, Input, Select, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { EditConflict, Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { GuidancePreview } from './guidance-preview.tsx'
import { MailStatusSection } from './mail-status.tsx'
import { ManagersOnly } from './managers-only.tsx'

export function WorkspaceScreen({ children }: { children?: ReactNode }) {
  const workspace = useQuery(workspaceQuery)
  return (
    <ManagersOnly title="Workspace">
      <Page title="Workspace" width="reading">
        <Loaded query={workspace}>{(workspace) => <WorkspaceForm workspace={workspace} />}</Loaded>
        {children}
        <MailStatusSection />
      </Page>
    </ManagersOnly>
  )
}

function WorkspaceForm({ workspace }: { workspace: Workspace }) {
  const { draft, change, isEdited, isOutdated, reset } = useDraft({
    name: workspace.name,
    guidance: workspace.guidance,
  })
  const { name, guidance } = draft
  const form = useForm(async () => {
    const changed = await api.updateWorkspace({ name, guidance })
    queries.setQueryData(workspaceQuery.queryKey, changed)
    await queries.invalidateQueries({ queryKey: meQuery.queryKey })
    showToast('Saved')
  }, ['name', 'guidance'])
  return (
    <>
      <form onSubmit={form.submit} className="space-y-5">
        <Field label="Name" error={form.errors.name} className="max-w-sm">
          <Input required value={name} onChange={(event) => change({ name: event.target.value })} />
        </Field>
        <Field
          label="Guidance for agents"
          hint="Markdown. All agents receive it with each session, before the team guidance."
          error={form.errors.guidance}
        >
          <Textarea
            rows={8}
            className="min-h-40 font-mono text-xs"
            value={guidance}
            onChange={(event) => change({ guidance: event.target.value })}
            placeholder="Branch names, files not to change, whom to ask…"
          />
        </Field>
        {isOutdated && <EditConflict what="the workspace" onReset={reset} />}
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" busy={form.busy} disabled={!isEdited}>
          Save
        </Button>
      </form>
      <Preview guidance={guidance} />
    </>
  )
}

/** Agents receive the workspace guidance together with that of a team. */
function Preview({ guidance }: { guidance: string }) {
  const teams = useTeams()
  const [selectedId, setSelectedId] = useState<string | null>(null)
  const team = teams.find(({ id }) => id === selectedId) ?? teams[0]
  if (!team) return null
  return (
    <Section
      title="Preview"
      actions={
        <Select
          aria-label="Preview team"
          className="w-44"
          value={team.id}
          onChange={(event) => setSelectedId(event.target.value)}
        >
          {teams.map(({ id, name }) => (
            <option key={id} value={id}>
              <bdi>{name}</bdi>
            </option>
          ))}
        </Select>
      }
    >
      <GuidancePreview key={team.id} teamId={team.id} draft={{ workspace_guidance: guidance }} />
    </Section>
  )
}
