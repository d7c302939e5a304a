import type { InboxEntry } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { CheckCheck, Inbox, Mail, MailOpen } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { inboxQuery } from '../data/inbox.ts'
import { markAllRead, markRead } from '../data/inbox-read.ts'
import { issueCodeOf } from '../data/issue-code.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { Page } from '../ui/layout.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty, Failed, Skeletons } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type Group, groupsOf, iconOf, linkOf, sentenceOf } from './entries.ts'

const InstallRequest = lazy(() =>
  import('./install-request.tsx').then((module) => ({ default: module.InstallRequest })),
)

/** The user's notifications, newest first. */
export function InboxScreen() {
  const { data, error, refetch } = useQuery(inboxQuery)
  const { unread: unreadOnly, install } = useSearch({ from: '/person/inside/inbox' })
  const navigate = useNavigate()
  const unread = data?.filter(({ read_at }) => !read_at) ?? []
  const showUnread = (only: boolean) =>
    void navigate({ to: '/inbox', search: only ? { unread: true } : {}, replace: true })
  return (
    <Page
      title="Inbox"
      actions={
        <>
          <Button
            size="sm"
            look="quiet"
            aria-pressed={unreadOnly === true}
            className={unreadOnly && 'bg-accent-wash text-accent-ink'}
            onClick={() => showUnread(!unreadOnly)}
          >
            Unread only
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
      }
    >
      {install && (
        <Suspense>
          <InstallRequest
            appId={install}
            onClose={() => void navigate({ to: '/inbox', search: ({ unread }) => (unread ? { unread } : {}) })}
          />
        </Suspense>
      )}
      {data ? (
        <Entries entries={unreadOnly ? unread : data} unreadOnly={unreadOnly === true} all={data} />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeletons rows={8} />
      )}
    </Page>
  )
}

function Entries({ entries, all, unreadOnly }: { entries: InboxEntry[]; all: InboxEntry[]; unreadOnly: boolean }) {
  const { list, at } = useRows('entry')
  const groups = groupsOf(entries)
  const active = groups.find(([{ id }]) => id === at)
  useCommands([
    {
      id: 'inbox.toggle',
      title: 'Mark as read or unread',
      section: 'View',
      keys: 'u',
      run: () => {
        if (active) void markRead(active, !active[0].read_at)
      },
    },
    {
      id: 'inbox.read-all',
      title: 'Mark all as read',
      section: 'View',
      keys: 'shift+a',
      run: () => void markAllRead(all),
    },
  ])
  if (entries.length === 0) {
    return (
      <Empty icon={Inbox} title={unreadOnly ? 'No unread notifications' : "You're all caught up"}>
        Mentions, assignments, and agents that need an answer or have finished appear here.
      </Empty>
    )
  }
  return (
    <ul {...list} aria-label="Inbox">
      {groups.map((group) => (
        <Row key={group[0].id} group={group} />
      ))}
    </ul>
  )
}

/** Shows the newest entry of the group, and how many there are. */
function Row({ group }: { group: Group }) {
  const [entry] = group
  const { icon: Icon, color } = iconOf(entry)
  const isRead = entry.read_at !== null
  const code = issueCodeOf(entry)
  return (
    <li className={cx('group relative flex items-center border-b pr-3', rowItem)}>
      <Link
        {...linkOf(group)}
        data-row={entry.id}
        onClick={() => {
          if (!isRead) void markRead(group, true)
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
            <span className="min-w-0 truncate">{entry.title}</span>
          </span>
          <span className="min-w-0 truncate text-ink-2">{sentenceOf(entry)}</span>
        </span>
        {group.length > 1 && (
          <span className="tabular shrink-0 rounded-full bg-hover px-1.5 text-xs text-ink-2">
            {group.length}
            <span className="sr-only"> notifications.</span>
          </span>
        )}
        <Time at={entry.created_at} className="min-w-24 shrink-0 text-right text-xs text-ink-3" />
      </Link>
      <IconButton
        label={isRead ? 'Mark as unread' : 'Mark as read'}
        icon={isRead ? Mail : MailOpen}
        command="inbox.toggle"
        className="ml-1 md:opacity-0 md:group-focus-within:opacity-100 md:group-hover:opacity-100"
        onClick={() => void markRead(group, !isRead)}
      />
    </li>
  )
}
