import type { Issue } from '@baton/protocol'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { useMe } from '../data/me.ts'
import { none, type Option, usePicker } from '../ui/picker.tsx'

// Loaded when the menu is first opened: the list of issues does not wait for it.
const agentOptions = () => import('./agent-options.tsx')
const DelegateFooter = lazy(() => agentOptions().then((module) => ({ default: module.DelegateFooter })))

/** Opens the menu of agents beside `anchor` and delegates the issues, or removes the delegation. */
export function useDelegate(): (anchor: Element | null, issues: Issue[]) => void {
  const ask = usePicker()
  const navigate = useNavigate()
  const { user, isManager } = useMe()
  return useCallback(
    (anchor, issues) => {
      const [first] = issues
      if (!first) return
      const delegate = async ({ value, label }: Option, assigneeId?: string) => {
        const { delegateIssues } = await import('./delegate-issues.ts')
        await delegateIssues({
          issues,
          agent: value === none ? null : { id: value, name: label },
          assigneeId,
          me: user.id,
          askAssignee: (issue) => {
            ask(anchor, {
              title: 'Choose an assignee',
              options: async (query) => (await agentOptions()).teammates(issue, user.id, query),
              empty: 'No member of this team matches.',
              footer: `${issue.code} has no assignee. A member of its team must be accountable for the agent’s work.`,
              onPick: (id) => void delegate({ value, label }, id),
            })
          },
        })
      }
      ask(anchor, {
        title: issues.length === 1 ? 'Delegate to' : `Delegate ${issues.length} issues to`,
        options: async (query) => (await agentOptions()).agentsForIssues(issues, query),
        selected: issues.length === 1 && first.delegate_id ? [first.delegate_id] : [],
        empty: 'No agent matches.',
        footer: (close) => (
          <Suspense>
            <DelegateFooter
              issue={first}
              isManager={isManager}
              onGo={(path) => {
                close()
                void navigate({ to: path })
              }}
            />
          </Suspense>
        ),
        onPick: (_, agent) => void delegate(agent),
      })
    },
    [ask, navigate, user.id, isManager],
  )
}
