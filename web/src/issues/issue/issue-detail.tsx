import type { Issue } from '@baton/protocol'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ReviewBar } from '../../agent-sessions/review-bar.tsx'
import { useMarkSeen } from '../../data/inbox-read.ts'
import { refreshIssue, useIssue } from '../../data/issues.ts'
import { useNameOfPerson } from '../../data/names.ts'
import { usePeople } from '../../data/workspaces.ts'
import { IssueFiles } from '../../files/item-files.tsx'
import { dayOf } from '../../ui/day.ts'
import { Detail, DetailSkeleton } from '../../ui/detail.tsx'
import { PropertyChips, PropertyRows, usePropertyKeys } from '../../ui/property-list.tsx'
import { SecondaryPanel } from '../../ui/shortcuts.ts'
import { Failed } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { IssueFeed } from './issue-feed.tsx'
import { IssueHeader } from './issue-header.tsx'
import { IssueMissing } from './issue-missing.tsx'
import { IssueDescription, IssueTitle } from './issue-text.tsx'
import { useProperties } from './properties.tsx'
import { IssuePullRequests } from './pull-requests.tsx'
import { Relations } from './relations.tsx'

interface Props {
  /** The issue's code, an earlier code, or its id. */
  code: string
  inPanel?: boolean
  /** With it the panel has a close button. */
  onClose?: () => void
}

/** An issue on its own page, or in the preview beside a list. */
export const IssueDetail = (props: Props) => (
  <SecondaryPanel value={props.inPanel ?? false}>
    <LoadedIssue key={props.code} {...props} />
  </SecondaryPanel>
)

/** Shows the stored issue at once, then reads it again. */
function LoadedIssue({ code, inPanel, onClose }: Props) {
  const [id, setId] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<{ missing: true } | { error: unknown } | null>(null)
  const [tries, setTries] = useState(0)
  const issue = useIssue(id ?? code)
  const navigate = useNavigate()

  // biome-ignore lint/correctness/useExhaustiveDependencies: another try reads it again
  useEffect(() => {
    let current = true
    refreshIssue(code).then(
      (found) => {
        if (!current) return
        if (found) setId(found.id)
        else setOutcome({ missing: true })
      },
      (error: unknown) => current && setOutcome({ error }),
    )
    return () => {
      current = false
    }
  }, [code, tries])

  // A move to another team changes the code while the page is open.
  useEffect(() => {
    if (!issue) return
    setId(issue.id)
    if (!inPanel && issue.code !== code) {
      void navigate({ to: '/issue/$code', params: { code: issue.code }, hash: true, replace: true })
    }
  }, [issue, code, inPanel, navigate])

  if (issue) return <IssueContent issue={issue} inPanel={inPanel} onClose={onClose} />
  if (id || (outcome && 'missing' in outcome)) return <IssueMissing code={code} wasHere={id !== null} />
  if (outcome) {
    const retry = () => {
      setOutcome(null)
      setTries(tries + 1)
    }
    return <Failed error={outcome.error} onRetry={retry} />
  }
  return <DetailSkeleton />
}

interface ContentProps {
  issue: Issue
  inPanel: boolean | undefined
  onClose: (() => void) | undefined
}

function IssueContent({ issue, inPanel, onClose }: ContentProps) {
  const properties = useProperties(issue)
  const ref = usePropertyKeys('Issue', properties)
  useMarkSeen(issue.code, !inPanel)
  return (
    <Detail
      ref={ref}
      header={<IssueHeader issue={issue} inPanel={inPanel} onClose={onClose} />}
      properties={
        <>
          <PropertyRows of="Issue" properties={properties} />
          <Origin issue={issue} />
        </>
      }
    >
      <IssueTitle issue={issue} />
      <div className="@4xl:hidden">
        <PropertyChips of="Issue" properties={properties} />
      </div>
      {issue.delegate_id && <ReviewBar issueId={issue.id} />}
      <IssueDescription issue={issue} />
      <Relations issue={issue} />
      <IssuePullRequests issue={issue} />
      <IssueFiles issueId={issue.id} />
      <IssueFeed issue={issue} />
    </Detail>
  )
}

function Origin({ issue }: { issue: Issue }) {
  const people = usePeople()
  const nameOfPerson = useNameOfPerson()
  const id = issue.reporter_id
  const reporter = id && people.size > 0 && (people.get(id)?.display_name ?? nameOfPerson(id))
  return (
    <p className="mt-4 border-t pt-3 text-xs text-ink-3">
      {reporter && `Reported by ${reporter}, `}
      {dayOf(issue.created_at)}
      {' · updated '}
      <Time at={issue.updated_at} />
    </p>
  )
}
