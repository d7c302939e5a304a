import type { Issue } from '@baton/protocol'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { refreshIssue, useIssue } from '../../data/issues.ts'
import { usePeople } from '../../data/workspaces.ts'
import { useMarkSeen } from '../../inbox/read.ts'
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
import { Relations } from './relations.tsx'

interface Props {
  /** Its code, one it had before, or its id. */
  code: string
  inPanel?: boolean
  /** Shows a button that closes the panel. */
  onClose?: () => void
}

/** An issue with everything about it: on a page of its own, or beside a list. */
export const IssueDetail = (props: Props) => (
  <SecondaryPanel value={props.inPanel ?? false}>
    <Looked key={props.code} {...props} />
  </SecondaryPanel>
)

/** What is at hand is shown at once and then looked at again. */
function Looked({ code, inPanel, onClose }: Props) {
  const [id, setId] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<{ missing: true } | { error: unknown } | null>(null)
  const [tries, setTries] = useState(0)
  const issue = useIssue(id ?? code)
  const navigate = useNavigate()

  // biome-ignore lint/correctness/useExhaustiveDependencies: another try looks again
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

  // It may get another code while it is open; then the old address is no longer its own.
  useEffect(() => {
    if (!issue) return
    setId(issue.id)
    if (!inPanel && issue.code !== code) {
      void navigate({ to: '/issue/$code', params: { code: issue.code }, hash: true, replace: true })
    }
  }, [issue, code, inPanel, navigate])

  if (issue) return <Shown issue={issue} inPanel={inPanel} onClose={onClose} />
  if (id || (outcome && 'missing' in outcome)) return <IssueMissing code={code} wasHere={id !== null} />
  if (outcome) {
    const again = () => {
      setOutcome(null)
      setTries(tries + 1)
    }
    return <Failed error={outcome.error} onRetry={again} />
  }
  return <DetailSkeleton />
}

interface ShownProps {
  issue: Issue
  inPanel: boolean | undefined
  onClose: (() => void) | undefined
}

function Shown({ issue, inPanel, onClose }: ShownProps) {
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
      <IssueDescription issue={issue} />
      <Relations issue={issue} />
      <IssueFeed issue={issue} />
    </Detail>
  )
}

function Origin({ issue }: { issue: Issue }) {
  const reporter = usePeople().get(issue.reporter_id ?? '')?.display_name
  return (
    <p className="mt-4 border-t pt-3 text-xs text-ink-3">
      {reporter && `Reported by ${reporter}, `}
      {dayOf(issue.created_at)}
      {' · changed '}
      <Time at={issue.updated_at} />
    </p>
  )
}
