import type { InboxThread, ThreadState } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Archive, ArchiveRestore, CheckCheck, Clock, Inbox, Mail, MailOpen } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { threadsQuery } from '../data/inbox.ts'
import { archiveRead, markAllRead, moveThread } from '../data/inbox-moves.ts'
import { markRead } from '../data/inbox-read.ts'
import { issueCodeOf } from '../data/issue-code.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { noDay } from '../ui/day.ts'
import { Page } from '../ui/layout.tsx'
import { usePicker } from '../ui/picker.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { exactTime, Time } from '../ui/time.tsx'
import { iconOf, linkOf, sentenceOf } from './entries.ts'
import { snoozeOptions, snoozeUntil } from './snooze.ts'

const InstallRequest = lazy(() =>
  import('./install-request.tsx').then((module) => ({ default: module.InstallRequest })),
)

const states: { state: ThreadState; label: string }[] = [
  { state: 'open', label: 'Open' },
  { state: 'snoozed', label: 'Snoozed' },
  { state: 'archived', label: 'Archived' },
]

/** The user's notifications, newest first, with one row for each subject. */
export function InboxScreen() {
  const { unread: unreadOnly = false, state = 'open', install } = useSearch({ from: '/person/inside/inbox' })
  const { data, error, refetch } = useQuery(threadsQuery(state))
  const navigate = useNavigate()
  const unread = data?.filter(({ unread_count }) => unread_count > 0) ?? []
  const show = (unreadOnly: boolean) =>
    void navigate({ to: '/inbox', search: (before) => withUnread(before, unreadOnly), replace: true })
  return (
    <Page
      title="Inbox"
      below={<States current={state} />}
      actions={
        state === 'open' && (
          <>
            <Button
              size="sm"
              look="quiet"
              aria-pressed={unreadOnly}
              className={cx(unreadOnly && 'bg-accent-wash text-accent-ink')}
              onClick={() => show(!unreadOnly)}
            >
              Unread only
            </Button>
            <Button
              size="sm"
              icon={Archive}
              command="inbox.archive-read"
              disabled={!data || data.length === unread.length}
              onClick={() => void archiveRead()}
              className="max-sm:hidden"
            >
              Archive read
            </Button>
            <Button
              size="sm"
              icon={CheckCheck}
              command="inbox.read-all"
              disabled={unread.length === 0}
              onClick={() => void markAllRead(data ?? [])}
            >
              Mark all read
            </Button>
          </>
        )
      }
    >
      {install && (
        <Suspense>
          <InstallRequest
            appId={install}
            onClose={() => void navigate({ to: '/inbox', search: ({ install: _, ...rest }) => rest })}
          />
        </Suspense>
      )}
      {data ? (
        <Threads key={state} state={state} threads={unreadOnly ? unread : data} unreadOnly={unreadOnly} all={data} />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeletons rows={8} />
      )}
    </Page>
  )
}

const withUnread = ({ unread: _, ...rest }: { unread?: true }, unreadOnly: boolean) =>
  unreadOnly ? { ...rest, unread: true as const } : rest

const States = ({ current }: { current: ThreadState }) => (
  <nav aria-label="Inbox" className="flex gap-1 px-3 pb-1.5">
    {states.map(({ state, label }) => (
      <Link
        key={state}
        to="/inbox"
        search={state === 'open' ? {} : { state }}
        aria-current={state === current ? 'page' : undefined}
        className={cx('rounded px-2 py-0.5', state === current ? 'bg-hover font-medium' : 'text-ink-2 hover:bg-hover')}
      >
        {label}
      </Link>
    ))}
  </nav>
)

interface ThreadsProps {
  state: ThreadState
  threads: InboxThread[]
  all: InboxThread[]
  unreadOnly: boolean
}

const empties: Record<ThreadState, { title: string; text: string }> = {
  open: {
    title: "You're all caught up",
    text: 'Mentions, assignments, and agents that need an answer or have finished appear here.',
  },
  snoozed: { title: 'Nothing is snoozed', text: 'Press H on a row of the inbox to hide it until later.' },
  archived: { title: 'Nothing is archived', text: 'Press E on a row of the inbox when you are done with it.' },
}

function Threads({ state, threads, all, unreadOnly }: ThreadsProps) {
  const { list, at } = useRows('thread')
  const active = threads.find(({ subject_id }) => subject_id === at)
  const { archive, snooze } = useMoves(state)
  useCommands([
    {
      id: 'inbox.toggle',
      title: 'Mark as read or unread',
      section: 'View',
      keys: 'u',
      run: () => {
        if (active) void markRead([active], active.unread_count > 0, state)
      },
    },
    {
      id: 'inbox.archive',
      title: state === 'archived' ? 'Move to inbox' : 'Archive',
      section: 'View',
      keys: 'e',
      run: () => {
        if (active) archive(active)
      },
    },
    {
      id: 'inbox.snooze',
      title: state === 'snoozed' ? 'End snooze' : 'Snooze…',
      section: 'View',
      keys: 'h',
      run: () => {
        if (active) snooze(active, document.activeElement)
      },
    },
    ...(state === 'open'
      ? [
          {
            id: 'inbox.read-all',
            title: 'Mark all as read',
            section: 'View' as const,
            keys: 'shift+a',
            run: () => void markAllRead(all),
          },
          {
            id: 'inbox.archive-read',
            title: 'Archive everything that is read',
            section: 'View' as const,
            keys: 'shift+e',
            run: () => void archiveRead(),
          },
        ]
      : []),
  ])
  if (threads.length === 0) {
    const { title, text } = empties[state]
    return (
      <Empty icon={Inbox} title={unreadOnly ? 'No unread notifications' : title}>
        {text}
      </Empty>
    )
  }
  return (
    <ul {...list} aria-label="Inbox">
      {threads.map((thread) => (
        <Row key={thread.subject_id} thread={thread} state={state} archive={archive} snooze={snooze} />
      ))}
    </ul>
  )
}

type Moves = ReturnType<typeof useMoves>

/** What E and H do in each list. */
function useMoves(state: ThreadState) {
  const pick = usePicker()
  return {
    archive: (thread: InboxThread) =>
      void (state === 'archived'
        ? moveThread(thread, state, { archived: false }, 'Moved to inbox')
        : moveThread(thread, state, { archived: true }, 'Archived')),
    snooze: (thread: InboxThread, anchor: Element | null) => {
      if (state === 'snoozed') return void moveThread(thread, state, { snoozed_until: null }, 'Moved to inbox')
      pick(anchor, {
        title: 'Snooze until…',
        options: snoozeOptions(),
        calendar: true,
        empty: noDay,
        onPick: (moment) => {
          const until = snoozeUntil(moment)
          void moveThread(thread, state, { snoozed_until: until }, `Snoozed until ${exactTime(until)}`)
        },
      })
    },
  }
}

/** Shows the newest entry of the thread, and how many are unread. */
function Row({ thread, state, archive, snooze }: { thread: InboxThread; state: ThreadState } & Moves) {
  const { latest, unread_count, subject_id, title, snoozed_until } = thread
  const { icon: Icon, color } = iconOf(latest)
  const isRead = unread_count === 0
  const code = issueCodeOf(thread)
  return (
    <li className={cx('group relative flex items-center border-b pr-3', rowItem)}>
      <Link
        {...linkOf(thread)}
        data-row={subject_id}
        onClick={() => {
          if (!isRead) void markRead([thread], true, state)
        }}
        className="flex min-h-10 min-w-0 flex-1 items-center gap-2.5 py-1.5 pl-4 outline-hidden"
      >
        <span className={cx('size-1.5 shrink-0 rounded-full', isRead ? 'bg-transparent' : 'bg-accent')}>
          {!isRead && <span className="sr-only">Unread.</span>}
        </span>
        <Icon size={15} aria-hidden className={cx('shrink-0', isRead ? 'text-ink-3' : color)} />
        <span className="flex min-w-0 flex-1 gap-x-3 max-sm:flex-col">
          <span className={cx('flex min-w-0 sm:w-3/5 sm:shrink-0', isRead ? 'text-ink-2' : 'font-semibold')}>
            <span className="tabular mr-2 shrink-0 font-normal text-ink-3 empty:hidden sm:w-16 sm:empty:block">
              {code}
            </span>
            <span className="min-w-0 truncate">{title}</span>
          </span>
          <span className="min-w-0 truncate text-ink-2">{sentenceOf(latest)}</span>
        </span>
        {/* It keeps its room in every row, so that the texts before it begin at the same place. */}
        <span className="tabular shrink-0 text-right text-xs text-ink-2 max-sm:empty:hidden sm:w-8">
          {unread_count > 1 && (
            <span className="rounded-full bg-hover px-1.5 py-0.5">
              {unread_count}
              <span className="sr-only"> notifications.</span>
            </span>
          )}
        </span>
        {snoozed_until ? (
          <span className="shrink-0 text-right text-xs text-ink-3">
            until <Time at={snoozed_until} />
          </span>
        ) : (
          <Time at={latest.created_at} className="min-w-24 shrink-0 text-right text-xs text-ink-3 max-sm:min-w-0" />
        )}
      </Link>
      <div className="ml-1 flex shrink-0 md:opacity-0 md:group-focus-within:opacity-100 md:group-hover:opacity-100">
        <IconButton
          label={isRead ? 'Mark as unread' : 'Mark as read'}
          icon={isRead ? Mail : MailOpen}
          command="inbox.toggle"
          className="max-sm:hidden"
          onClick={() => void markRead([thread], !isRead, state)}
        />
        <IconButton
          label={state === 'snoozed' ? 'End snooze' : 'Snooze'}
          icon={Clock}
          command="inbox.snooze"
          onClick={(event) => snooze(thread, event.currentTarget)}
        />
        <IconButton
          label={state === 'archived' ? 'Move to inbox' : 'Archive'}
          icon={state === 'archived' ? ArchiveRestore : Archive}
          command="inbox.archive"
          onClick={() => archive(thread)}
        />
      </div>
    </li>
  )
}
