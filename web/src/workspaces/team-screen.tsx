import type { Repository, Team } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Plus, X } from 'lucide-react'
import { api, queries } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { teamsQuery } from '../data/workspaces.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { useDraft } from '../ui/draft.ts'
import { Field, Input, Textarea } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { NotFound } from '../ui/not-found.tsx'
import { EditConflict, Notice } from '../ui/states.tsx'
import { showToast } from '../ui/toast.tsx'
import { DeleteTeam } from './delete-team.tsx'
import { GuidancePreview } from './guidance-preview.tsx'
import { TeamMembers } from './team-members.tsx'
import { TeamReviewSetting } from './team-review.tsx'
import { TeamTriage } from './team-triage.tsx'

export function TeamScreen() {
  const { teamId } = useParams({ from: '/person/inside/settings/teams/$teamId' })
  const { isManager } = useMe()
  const teams = useQuery(teamsQuery)
  const team = teams.data?.find(({ id }) => id === teamId)
  if (teams.data && !team) return <NotFound />
  return (
    <Page
      title={
        <Crumbs
          above={[
            <Link key="teams" to="/settings/teams">
              Teams
            </Link>,
          ]}
        >
          <bdi>{team?.name}</bdi>
        </Crumbs>
      }
      width="reading"
    >
      <Loaded query={{ ...teams, data: team }}>
        {(team) => (
          <>
            {isManager ? <TeamForm key={team.id} team={team} /> : <TeamDetails team={team} />}
            <TeamMembers team={team} />
            <TeamReviewSetting team={team} isManager={isManager} />
            <TeamTriage team={team} isManager={isManager} />
            {isManager && <DeleteTeam team={team} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const TeamDetails = ({ team }: { team: Team }) => (
  <>
    <Section title="Guidance for agents">
      <p className="whitespace-pre-wrap text-ink-2">{team.guidance || 'None. Owners and admins can add it.'}</p>
    </Section>
    {team.repositories.length > 0 && (
      <Section title="Repositories">
        <ul className="font-mono text-xs">
          {team.repositories.map(({ repository }) => (
            <li key={repository}>{repository}</li>
          ))}
        </ul>
      </Section>
    )}
  </>
)

function TeamForm({ team }: { team: Team }) {
  const { draft, change, isEdited, isOutdated, reset } = useDraft({
    name: team.name,
    guidance: team.guidance,
    repositories: team.repositories,
  })
  const { name, guidance, repositories } = draft
  const form = useForm(async () => {
    await api.updateTeam({ team_id: team.id, name, guidance, repositories })
    await queries.invalidateQueries({ queryKey: ['workspace', 'teams'] })
    showToast('Saved')
  }, ['name', 'guidance'])
  return (
    <>
      <form onSubmit={form.submit} className="space-y-5">
        <Field
          label="Name"
          hint={`Issue IDs: ${team.key}-1, ${team.key}-2, …`}
          error={form.errors.name}
          className="max-w-sm"
        >
          <Input required value={name} onChange={(event) => change({ name: event.target.value })} />
        </Field>
        <Field
          label="Guidance for agents"
          hint="Markdown. Agents receive it with each issue of this team, after the workspace guidance."
          error={form.errors.guidance}
        >
          <Textarea
            className="min-h-40 font-mono text-xs"
            value={guidance}
            onChange={(event) => change({ guidance: event.target.value })}
            placeholder="How to run tests, who reviews, where to find things…"
          />
        </Field>
        <Repositories
          repositories={repositories}
          onChange={(repositories) => change({ repositories })}
          errors={form.errors}
        />
        {isOutdated && <EditConflict what="the team" onReset={reset} />}
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" busy={form.busy} disabled={!isEdited}>
          Save
        </Button>
      </form>
      <Section title="Preview">
        <GuidancePreview
          teamId={team.id}
          draft={{ team_guidance: guidance, repositories: repositories.filter(({ repository }) => repository) }}
        />
      </Section>
    </>
  )
}

/** Repositories of the team, included in the agent context. */
function Repositories({
  repositories,
  onChange,
  errors,
}: {
  repositories: Repository[]
  onChange: (repositories: Repository[]) => void
  errors: Record<string, string>
}) {
  const change = (at: number, changed: Repository) =>
    onChange(repositories.map((current, index) => (index === at ? changed : current)))
  const problem = Object.entries(errors).find(([field]) => field.startsWith('repositories'))?.[1]
  return (
    <fieldset className="space-y-2">
      <legend className="font-medium">Repositories</legend>
      {repositories.map((repository, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items have no other identity than their index
        <div key={index} className="flex gap-2">
          <Input
            aria-label={`Repository ${index + 1}`}
            required
            placeholder="harbor/shop"
            className="font-mono"
            value={repository.repository}
            onChange={(event) => change(index, { ...repository, repository: event.target.value })}
          />
          <Input
            aria-label={`URL of repository ${index + 1}`}
            type="url"
            placeholder="https://… (optional)"
            value={repository.url ?? ''}
            onChange={(event) =>
              change(index, {
                repository: repository.repository,
                ...(event.target.value && { url: event.target.value }),
              })
            }
          />
          <IconButton
            label={`Remove repository ${index + 1}`}
            icon={X}
            onClick={() => onChange(repositories.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {problem && (
        <p role="alert" className="text-xs text-bad-ink">
          {problem}
        </p>
      )}
      <Button size="sm" icon={Plus} onClick={() => onChange([...repositories, { repository: '' }])}>
        Add repository
      </Button>
    </fieldset>
  )
}
