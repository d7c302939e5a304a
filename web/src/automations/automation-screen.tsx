import type { Automation, Issue, NewAutomation } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { automationQuery, rereadAutomation } from '../data/automations.ts'
import { useMe } from '../data/me.ts'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { Notice } from '../ui/states.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { Editor } from './editor.tsx'
import { History } from './history.tsx'
import { localZone } from './trigger-fields.tsx'
import { pausedWords, stateWords } from './words.ts'

const above = [
  <Link key="all" to="/settings/automations">
    Automations
  </Link>,
]

/** A new automation; with `issue` in the address, one that repeats that issue. */
export function NewAutomationScreen() {
  const { issue: key } = useSearch({ strict: false }) as { issue?: string | undefined }
  const teams = useTeams()
  const issue = useQuery({
    queryKey: ['issue-to-repeat', key],
    queryFn: () => api.getIssue({ issue_id: key as string }),
    enabled: key !== undefined,
  })
  const [first] = teams
  return (
    <Page title={<Crumbs above={above}>New automation</Crumbs>}>
      <div className="mx-auto max-w-5xl px-4 py-6 sm:px-6">
        {key === undefined
          ? first && <Create initial={emptyDraft(first.id)} />
          : first && <Loaded query={issue}>{(data) => <Create initial={repeating(data, first.id)} />}</Loaded>}
      </div>
    </Page>
  )
}

const emptyDraft = (teamId: string): NewAutomation => ({
  team_id: teamId,
  name: '',
  trigger: { type: 'issue', on: 'created' },
  filter: {},
  actions: [{ type: 'comment', text: '' }],
})

/** automation.recurring: every Monday, an issue with the fields of this one. */
const repeating = (issue: Issue, teamId: string): NewAutomation => ({
  team_id: issue.team_id ?? teamId,
  name: `Repeat ${issue.title}`.slice(0, 80),
  preset: 'recurring',
  trigger: { type: 'schedule', cron: '0 9 * * 1', time_zone: localZone() },
  filter: {},
  actions: [
    {
      type: 'create_issue',
      title: issue.title,
      ...(issue.description && { description: issue.description }),
      priority: issue.priority,
      issue_type: issue.type,
      ...(issue.assignee_id && { assignee_id: issue.assignee_id }),
      ...(issue.project_id && { project_id: issue.project_id }),
      ...(issue.label_ids.length > 0 && { label_ids: issue.label_ids }),
      skip_if_open: true,
    },
  ],
})

function Create({ initial }: { initial: NewAutomation }) {
  const navigate = useNavigate()
  return (
    <Editor
      initial={initial}
      isNew
      onSave={async (draft) => {
        // A preset describes its trigger; another one makes an ordinary automation of it.
        const keepsPreset = draft.trigger.type === 'schedule' && draft.actions[0]?.type === 'create_issue'
        const { id } = await api.createAutomation({ ...draft, preset: keepsPreset ? (draft.preset ?? null) : null })
        await rereadAutomation(id)
        showToast('Automation created')
        await navigate({ to: '/settings/automations/$automationId', params: { automationId: id } })
      }}
    >
      <Link to="/settings/automations" className="self-center px-2 text-ink-2 hover:text-ink">
        Cancel
      </Link>
    </Editor>
  )
}

export function AutomationScreen() {
  const { automationId } = useParams({ strict: false }) as { automationId: string }
  const automation = useQuery(automationQuery(automationId))
  return (
    <Page
      title={<Crumbs above={above}>{automation.data?.name ?? 'Automation'}</Crumbs>}
      actions={automation.data && <Controls automation={automation.data} />}
    >
      <div className="mx-auto max-w-5xl space-y-8 px-4 py-6 sm:px-6">
        <Loaded query={automation}>{(data) => <Opened automation={data} />}</Loaded>
      </div>
    </Page>
  )
}

const nextFormat = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  hourCycle: 'h23',
})
const nextTime = (moment: string) => nextFormat.format(new Date(moment))

function Opened({ automation }: { automation: Automation }) {
  const { user } = useMe()
  const owner = usePeople().get(automation.owner_id)?.display_name ?? 'a former member'
  const isOwner = automation.owner_id === user.id
  const { label, tone } = stateWords[automation.state]
  const { id, version, name, team_id, trigger, filter, actions, preset } = automation
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 text-ink-2">
        <Pill tone={tone}>{label}</Pill>
        <span>
          Acts as <bdi className="font-medium text-ink">{owner}</bdi>
          {isOwner ? '' : ', who alone can change it.'}
        </span>
        {automation.state === 'on' && automation.next_at && <span>Next: {nextTime(automation.next_at)}</span>}
      </p>
      {automation.paused_reason && (
        <Notice tone="warn" title="Paused">
          {pausedWords[automation.paused_reason]}
        </Notice>
      )}
      <Editor
        key={`${id} ${version}`}
        initial={{ team_id, name, trigger, filter, actions, preset }}
        readOnly={!isOwner}
        onSave={async ({ team_id: _, preset: __, ...change }) => {
          await api.updateAutomation({ automation_id: id, ...change })
          await rereadAutomation(id)
          showToast('Automation saved')
        }}
      />
      <History automationId={id} />
    </>
  )
}

/** What the caller may do with it. The state is shown when the server says so. */
function Controls({ automation }: { automation: Automation }) {
  const { user, isManager } = useMe()
  const navigate = useNavigate()
  const [deleting, setDeleting] = useState(false)
  const { id, state, owner_id, trigger } = automation
  const isOwner = owner_id === user.id
  const input = { automation_id: id }
  const { run, busy } = useAction(async (work: () => Promise<unknown>) => {
    await work()
    await rereadAutomation(id)
  }, showError)
  return (
    <div className="flex shrink-0 gap-2">
      {isOwner && trigger.type === 'schedule' && state !== 'paused' && (
        <Button className="max-sm:hidden" busy={busy} onClick={() => void run(() => api.runAutomation(input))}>
          Run now
        </Button>
      )}
      {isOwner && state !== 'on' && (
        <Button look="primary" busy={busy} onClick={() => void run(() => api.enableAutomation(input))}>
          Turn on
        </Button>
      )}
      {(isOwner || isManager) && state !== 'off' && (
        <Button busy={busy} onClick={() => void run(() => api.disableAutomation(input))}>
          Turn off
        </Button>
      )}
      {!isOwner && isManager && (
        <Button busy={busy} onClick={() => void run(() => api.takeOverAutomation(input))}>
          Take over
        </Button>
      )}
      {(isOwner || isManager) && <Button onClick={() => setDeleting(true)}>Delete</Button>}
      <Dialog
        open={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${automation.name}?`}
        description="Its history is deleted too. Issues and comments that it made stay."
        footer={
          <>
            <Button onClick={() => setDeleting(false)}>Cancel</Button>
            <Button
              look="danger"
              onClick={() =>
                void run(async () => {
                  await api.deleteAutomation(input)
                  await navigate({ to: '/settings/automations' })
                })
              }
            >
              Delete
            </Button>
          </>
        }
      >
        {null}
      </Dialog>
    </div>
  )
}
