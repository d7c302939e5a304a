import type { Issue } from '@baton/protocol'
import { branchName } from '@baton/protocol/branch-name'
import { Link, useCanGoBack, useNavigate, useRouter } from '@tanstack/react-router'
import {
  ArrowDown,
  ArrowLeft,
  ArrowUp,
  Ellipsis,
  GitBranch,
  Link as LinkIcon,
  Maximize2,
  Repeat,
  Trash2,
  X,
} from 'lucide-react'
import { useState } from 'react'
import { knownIssue, useIssues } from '../../data/issues.ts'
import { useMe } from '../../data/me.ts'
import { useTeams } from '../../data/workspaces.ts'
import { IconButton } from '../../ui/button.tsx'
import { copy } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { showToast } from '../../ui/toast.tsx'
import { DeleteIssues } from '../edit/delete-issues.tsx'
import { neighboursOf } from './neighbours.ts'

interface Props {
  issue: Issue
  inPanel?: boolean | undefined
  onClose?: (() => void) | undefined
}

const copyWithMessage = async (text: string, message: string) => (await copy(text)) && showToast(message)

export function IssueHeader({ issue, inPanel, onClose }: Props) {
  const team = useTeams().find(({ id }) => id === issue.team_id)
  const Heading = inPanel ? 'h2' : 'h1'
  return (
    <header className={`flex h-12 shrink-0 items-center gap-1 border-b px-3 ${inPanel ? '' : 'max-md:pl-13'}`}>
      {!inPanel && <Back />}
      <Heading className="flex min-w-0 flex-1 items-baseline gap-2 truncate pl-1 text-sm">
        {team && (
          <span className="text-ink-3 max-sm:hidden">
            <bdi>{team.name}</bdi>
          </span>
        )}
        <span className="tabular font-semibold">{issue.code}</span>
        <span className="sr-only">{issue.title}</span>
      </Heading>
      {inPanel ? (
        <Link
          to="/issue/$code"
          params={{ code: issue.code }}
          aria-label="Open full page"
          title="Open full page"
          className="inline-flex size-7 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Maximize2 size={14} aria-hidden />
        </Link>
      ) : (
        <Neighbours issue={issue} />
      )}
      <IconButton
        label="Copy link"
        icon={LinkIcon}
        command="issue.copy-link"
        onClick={() => void copyWithMessage(issue.url, 'Link copied')}
      />
      <IssueMenu issue={issue} inPanel={inPanel} onClose={onClose} />
      {onClose && <IconButton label="Close" icon={X} onClick={onClose} />}
    </header>
  )
}

function Back() {
  const router = useRouter()
  const navigate = useNavigate()
  const canGoBack = useCanGoBack()
  const back = () => (canGoBack ? router.history.back() : void navigate({ to: '/issues' }))
  useCommands([{ id: 'issue.back', title: 'Back to list', section: 'Issue', keys: 'escape', hidden: true, run: back }])
  return <IconButton label="Back to list" icon={ArrowLeft} command="issue.back" onClick={back} />
}

function Neighbours({ issue }: { issue: Issue }) {
  const navigate = useNavigate()
  const { issues } = useIssues()
  const { previous, next } = neighboursOf(issue.id, issues)
  const go = (id: string | undefined) => {
    const code = id && knownIssue(id)?.code
    // Replaces the history entry: Back leads to the list, not through every issue.
    if (code) void navigate({ to: '/issue/$code', params: { code }, replace: true })
  }
  useCommands([
    { id: 'issue.next', title: 'Next issue', section: 'Issue', keys: 'j', hidden: true, run: () => go(next) },
    {
      id: 'issue.previous',
      title: 'Previous issue',
      section: 'Issue',
      keys: 'k',
      hidden: true,
      run: () => go(previous),
    },
  ])
  return (
    <span className="flex max-sm:hidden">
      <IconButton
        label="Previous issue"
        icon={ArrowUp}
        command="issue.previous"
        disabled={!previous}
        onClick={() => go(previous)}
      />
      <IconButton label="Next issue" icon={ArrowDown} command="issue.next" disabled={!next} onClick={() => go(next)} />
    </span>
  )
}

function IssueMenu({ issue, inPanel, onClose }: Props) {
  const navigate = useNavigate()
  const [deleting, setDeleting] = useState(false)
  const { user } = useMe()
  const repeat = () => void navigate({ to: '/settings/automations/new', search: { issue: issue.id } })
  const copyBranch = () => void copyWithMessage(branchName(user.display_name, issue), 'Branch name copied')
  useCommands([
    {
      id: 'issue.copy-link',
      title: 'Copy link',
      section: 'Issue',
      keys: 'mod+shift+c',
      run: () => void copyWithMessage(issue.url, 'Link copied'),
    },
    {
      id: 'issue.copy-branch',
      title: 'Copy branch name',
      section: 'Issue',
      keys: 'shift+b',
      run: copyBranch,
    },
    ...(issue.team_id ? [{ id: 'issue.repeat', title: 'Repeat…', section: 'Issue' as const, run: repeat }] : []),
    { id: 'issue.delete', title: 'Delete issue…', section: 'Issue', run: () => setDeleting(true) },
  ])
  return (
    <>
      <Menu
        label="Issue actions"
        trigger={<IconButton label="Issue actions" icon={Ellipsis} />}
        items={[
          { label: 'Copy branch name', icon: GitBranch, onPick: copyBranch },
          ...(issue.team_id ? [{ label: 'Repeat…', icon: Repeat, onPick: repeat }] : []),
          null,
          { label: 'Delete issue…', icon: Trash2, danger: true, onPick: () => setDeleting(true) },
        ]}
      />
      <DeleteIssues
        issues={deleting ? [issue] : []}
        onClose={() => setDeleting(false)}
        onDeleted={() => (inPanel ? onClose?.() : navigate({ to: '/issues' }))}
      />
    </>
  )
}
