import type { Issue, PullRequest } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { api, queries, rereadKey } from '../../data/api.ts'
import { pullRequestsOfIssue } from '../../data/pull-requests.ts'
import { BranchLine, PullRequestLine, StateIcon } from '../../pull-requests/pull-requests.tsx'
import { IconButton } from '../../ui/button.tsx'
import { fold } from '../../ui/fold.ts'
import { type Option, usePicker } from '../../ui/picker.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { showError, showToast } from '../../ui/toast.tsx'
import { Group } from './issue-line.tsx'

const textOf = ({ repository, number, title }: PullRequest) => `${repository}#${number}  ${title}`

/** Searches the newest pull requests that are not linked yet. */
const findPullRequests = (linked: readonly PullRequest[]) => async (query: string) => {
  const { data } = await api.listPullRequests({ limit: 100 })
  return data
    .filter((one) => !linked.some(({ id }) => id === one.id) && fold(textOf(one)).includes(fold(query.trim())))
    .slice(0, 20)
    .map((one): Option => ({ value: one.id, label: textOf(one), icon: <StateIcon state={one.state} /> }))
}

/** Linked pull requests, and pushed branches without one. */
export function IssuePullRequests({ issue }: { issue: Issue }) {
  const { data } = useQuery({ ...pullRequestsOfIssue(issue.id), enabled: !issue.personal })
  const ask = usePicker()
  const { pullRequests = [], branches = [] } = data ?? {}
  const change = async (work: () => Promise<unknown>, done: string) => {
    try {
      await work()
      showToast(done)
    } catch (error) {
      showError(error)
    }
    await rereadKey('pull-requests', issue.id)
  }
  const link = (anchor: Element | null) =>
    ask(anchor, {
      title: 'Link pull request',
      options: findPullRequests(pullRequests),
      empty: 'No pull request found. Owners and admins connect repositories in Settings → Git.',
      onPick: (pull_request_id) =>
        void change(
          () => api.linkPullRequest({ issue_id: issue.id, pull_request_id, closes: true }),
          'Pull request linked',
        ),
    })
  const unlink = ({ id }: PullRequest) => {
    const { queryKey } = pullRequestsOfIssue(issue.id)
    queries.setQueryData(
      queryKey,
      (old) => old && { ...old, pullRequests: old.pullRequests.filter((one) => one.id !== id) },
    )
    void change(() => api.unlinkPullRequest({ issue_id: issue.id, pull_request_id: id }), 'Pull request unlinked')
  }
  useCommands(
    issue.personal
      ? []
      : [
          {
            id: 'issue.link-pull-request',
            title: 'Link pull request…',
            section: 'Issue',
            run: () => link(document.querySelector('[data-relation=pull-requests]')),
          },
        ],
  )
  if (issue.personal || pullRequests.length + branches.length === 0) return null
  return (
    <Group
      title="Pull requests"
      count={
        <IconButton
          label="Link pull request"
          icon={Plus}
          command="issue.link-pull-request"
          data-relation="pull-requests"
          className="ml-auto"
          onClick={(event) => link(event.currentTarget)}
        />
      }
    >
      {pullRequests.map((pullRequest) => (
        <PullRequestLine
          key={pullRequest.id}
          pullRequest={pullRequest}
          actions={
            <IconButton
              label={`Unlink ${pullRequest.repository}#${pullRequest.number}`}
              icon={X}
              onClick={() => unlink(pullRequest)}
              className="opacity-0 group-hover/line:opacity-100 focus-visible:opacity-100"
            />
          }
        />
      ))}
      {branches.map((branch) => (
        <BranchLine key={`${branch.connection_id} ${branch.repository} ${branch.name}`} branch={branch} />
      ))}
    </Group>
  )
}
