import type { AgentSession, SessionChanges } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ChevronDown, ChevronUp, Columns2, FileDiff, FolderTree, Rows3 } from 'lucide-react'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { activitiesQuery } from '../../data/activities.ts'
import { issueSessionsQuery, sessionQuery } from '../../data/agent-sessions.ts'
import { isBatonError } from '../../data/api.ts'
import { changesQuery } from '../../data/session-changes.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CopyTextButton } from '../../ui/copy.tsx'
import { Crumbs } from '../../ui/crumbs.tsx'
import { Page } from '../../ui/layout.tsx'
import { NotFound } from '../../ui/not-found.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { addToDraft } from '../composer.tsx'
import { useAgent } from '../header.tsx'
import { ChangesSum } from '../results.tsx'
import { Reply } from '../session-panel.tsx'
import { commandOf } from './command.ts'
import { FileDiffs } from './file-diffs.tsx'
import { FileTree } from './file-tree.tsx'
import { treeOf } from './tree.ts'
import './changes.css'

/** The changes that the agent of a session made in its repository. */
export function ChangesScreen() {
  const { sessionId } = useParams({ from: '/person/inside/agent-session/$sessionId/changes' })
  const { data, error, refetch } = useQuery(sessionQuery(sessionId))
  if (isBatonError(error, 'RESOURCE_NOT_FOUND')) return <NotFound />
  if (data) return <ChangesPage key={data.id} session={data} />
  return <Page title="Changes">{error ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons />}</Page>
}

function ChangesPage({ session }: { session: AgentSession }) {
  const { data, error, refetch } = useQuery(changesQuery(session))
  const agent = useAgent(session)
  const navigate = useNavigate()
  const params = { sessionId: session.id }
  useCommands([
    {
      id: 'changes.leave',
      title: 'Go to the agent session',
      section: 'View',
      keys: 'escape',
      run: () => void navigate({ to: '/agent-session/$sessionId', params }),
    },
  ])
  const title = (
    <Crumbs
      above={[
        ...(session.issue
          ? [
              <Link key="issue" to="/issue/$code" params={{ code: session.issue.identifier }}>
                {session.issue.identifier}
              </Link>,
            ]
          : []),
        <Link key="session" to="/agent-session/$sessionId" params={params}>
          <bdi>{agent.name}</bdi>
        </Link>,
      ]}
    >
      Changes
    </Crumbs>
  )
  if (data) return <Viewer title={title} session={session} changes={data} />
  return (
    <Page title={title}>
      {!session.changes ? (
        <Empty icon={FileDiff} title="No changes yet">
          The agent has not reported any changed file.
        </Empty>
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeletons />
      )}
    </Page>
  )
}

const layoutKey = 'baton.changes-layout'
const isWide = () => matchMedia('(min-width: 1120px)').matches

interface ViewerProps {
  title: ReactNode
  session: AgentSession
  changes: SessionChanges
}

function Viewer({ title, session, changes }: ViewerProps) {
  const { data: activities = [] } = useQuery(activitiesQuery(session.id))
  const [isSplit, setSplit] = useState(localStorage.getItem(layoutKey) === 'split')
  const [showsTree, setShowsTree] = useState(isWide)
  const [current, setCurrent] = useState<string | null>(null)
  const diffs = useRef<HTMLElement>(null)
  const reply = useRef<HTMLDivElement>(null)
  const nodes = useMemo(() => treeOf(changes.files), [changes])
  // In the order of the tree, so that the next file is the next line there.
  const files = useMemo(() => nodes.flatMap((node) => (node.kind === 'file' ? [node.file] : [])), [nodes])
  const at = Math.max(
    0,
    files.findIndex(({ path }) => path === current),
  )
  const open = (index: number) => {
    const file = files[index]
    if (!file) return
    setCurrent(file.path)
    diffs.current?.querySelector(`[data-file="${index}"]`)?.scrollIntoView({ block: 'start' })
  }
  const layout = (split: boolean) => {
    localStorage.setItem(layoutKey, split ? 'split' : 'unified')
    setSplit(split)
  }
  useCommands([
    { id: 'changes.previous', title: 'Previous file', section: 'View', keys: '[', run: () => open(at - 1) },
    { id: 'changes.next', title: 'Next file', section: 'View', keys: ']', run: () => open(at + 1) },
    { id: 'changes.layout', title: 'Unified or split', section: 'View', keys: 'v', run: () => layout(!isSplit) },
  ])
  const command = useCommand(session, changes)
  const canQuote = !session.ended_at && session.state !== 'stopping' && !session.budget_reached
  const quote = (text: string) => {
    addToDraft(session.id, text)
    reply.current?.querySelector('textarea')?.focus()
  }
  return (
    <Page
      title={title}
      actions={<CopyTextButton text={command}>Copy command</CopyTextButton>}
      below={
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 pb-2">
          <Button
            size="sm"
            icon={FolderTree}
            aria-pressed={showsTree}
            className={showsTree ? 'bg-hover' : ''}
            onClick={() => setShowsTree(!showsTree)}
          >
            Files
          </Button>
          <p className="min-w-0 flex-1 text-xs text-ink-2">
            <ChangesSum {...changes} />
            <Where changes={changes} />
          </p>
          <span className="flex items-center gap-0.5">
            <span className="tabular px-1 text-xs text-ink-2">
              {files.length === 0 ? 0 : at + 1} of {files.length}
            </span>
            <IconButton
              label="Previous file"
              icon={ChevronUp}
              command="changes.previous"
              disabled={at === 0}
              onClick={() => open(at - 1)}
            />
            <IconButton
              label="Next file"
              icon={ChevronDown}
              command="changes.next"
              disabled={at >= files.length - 1}
              onClick={() => open(at + 1)}
            />
            <IconButton
              label="Unified"
              icon={Rows3}
              active={!isSplit}
              aria-pressed={!isSplit}
              onClick={() => layout(false)}
            />
            <IconButton
              label="Split"
              icon={Columns2}
              active={isSplit}
              aria-pressed={isSplit}
              onClick={() => layout(true)}
            />
          </span>
        </div>
      }
    >
      <div data-session={session.id} className="flex h-full min-h-0 flex-col bg-surface">
        <div className="relative flex min-h-0 flex-1">
          {showsTree && (
            <FileTree
              nodes={nodes}
              current={files[at]?.path ?? null}
              onOpen={(path) => {
                if (!isWide()) setShowsTree(false)
                open(files.findIndex((file) => file.path === path))
              }}
            />
          )}
          <FileDiffs
            ref={diffs}
            files={files}
            total={changes.files_total}
            isSplit={isSplit}
            onCurrent={setCurrent}
            onQuote={canQuote ? quote : null}
          />
        </div>
        <div ref={reply} className="shrink-0 space-y-2 border-t px-3 py-2.5 empty:hidden">
          <Reply session={session} activities={activities} />
        </div>
      </div>
    </Page>
  )
}

/** The command that brings the changes into a checkout. */
function useCommand(session: AgentSession, changes: SessionChanges) {
  const { data } = useQuery({ ...issueSessionsQuery(session.issue?.id ?? ''), enabled: session.issue !== null })
  const others = data?.some((other) => other.id !== session.id && other.changes !== null) ?? false
  return commandOf(changes, session.issue && !others ? session.issue.identifier : session.id)
}

/** Repository, branch and base, and when the agent reported them. */
function Where({ changes }: { changes: SessionChanges }) {
  const { repository, branch, base, pushed, updated_at } = changes
  return (
    <>
      {' · '}
      <bdi>{repository}</bdi>
      {branch && (
        <>
          {' · '}
          <span className="font-mono">{branch}</span>
          {pushed ? ' (pushed)' : ' (not pushed)'}
        </>
      )}
      {' · from '}
      <span className="font-mono">{base.ref ? `${base.ref} ${base.commit.slice(0, 8)}` : base.commit.slice(0, 8)}</span>
      {' · '}
      <Time at={updated_at} />
    </>
  )
}
