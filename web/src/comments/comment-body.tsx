import '../data/files.ts'
import type { Comment } from '@baton/protocol'
import { useRouterState } from '@tanstack/react-router'
import { Ellipsis, Link as LinkIcon, Lock, Pencil, Trash2 } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { api } from '../data/api.ts'
import { putComment, type Target } from '../data/comments.ts'
import { useMe } from '../data/me.ts'
import { usePeople } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { copy } from '../ui/copy.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Markdown } from '../ui/markdown.tsx'
import { Menu } from '../ui/menu.tsx'
import { closeComposer, openComposer, useIsComposerOpen } from '../ui/open-composer.ts'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { useAuthor } from './author.ts'
import { Composer } from './composer.tsx'
import { toDraft } from './mentions.ts'
import { AddReaction, Reactions } from './reactions.tsx'

const ByAutomation = lazy(() => import('./by-automation.tsx'))

export const anchorOf = (comment: Comment) => `comment-${comment.id}`

/** Whether the hash of the URL refers to one of these comments. */
export const useIsLinked = (comments: Comment[]) =>
  useRouterState({ select: ({ location }) => comments.some((comment) => location.hash === anchorOf(comment)) })

/** One comment with its author, time and the actions the reader may take. */
export function CommentBody({ comment, target, actions }: { comment: Comment; target: Target; actions?: ReactNode }) {
  const people = usePeople()
  const isLinked = useIsLinked([comment])
  const ref = useRef<HTMLElement>(null)
  const draftKey = `edit ${comment.id}`
  const editing = useIsComposerOpen(draftKey)
  const { name, isAgent, avatarUrl } = useAuthor(comment.author_id)

  useEffect(() => {
    if (isLinked) ref.current?.scrollIntoView({ block: 'center' })
  }, [isLinked])

  return (
    <article
      ref={ref}
      id={anchorOf(comment)}
      aria-label={`Comment by ${isolated(name)}`}
      className={cx('group/comment px-3.5 py-2.5', isLinked && 'bg-accent-wash')}
    >
      <header className="flex h-6 items-center gap-2">
        <Avatar name={name} agent={isAgent} src={avatarUrl} size={20} />
        <span className="min-w-0 truncate font-medium">
          <bdi>{name}</bdi>
          {comment.automation_id && (
            <Suspense fallback={null}>
              <ByAutomation id={comment.automation_id} />
            </Suspense>
          )}
        </span>
        <a href={`#${anchorOf(comment)}`} className="shrink-0 text-xs text-ink-3 hover:underline">
          <Time at={comment.created_at} />
        </a>
        {comment.edited_at && <span className="shrink-0 text-xs text-ink-3">edited</span>}
        {comment.internal && (
          <span className="inline-flex min-w-0 items-center gap-1 truncate text-xs text-ink-3">
            <Lock size={11} aria-hidden className="shrink-0" />
            <span className="truncate">Internal: agents do not see this</span>
          </span>
        )}
        <span className="flex-1" />
        <AddReaction comment={comment} target={target} />
        {actions}
        <CommentMenu comment={comment} target={target} onEdit={() => openComposer(draftKey)} />
      </header>
      <div className="mt-1 sm:pl-7">
        {editing ? (
          <Composer
            target={target}
            draftKey={draftKey}
            label="Edit comment"
            action="Save"
            initial={toDraft(comment.text, people)}
            internal={comment.internal}
            autoFocus
            onCancel={() => closeComposer(draftKey)}
            onSend={async (text) => {
              putComment(comment.id, target.targetId, await api.updateComment({ comment_id: comment.id, text }))
              closeComposer(draftKey)
            }}
          />
        ) : (
          <>
            <Markdown text={comment.text} />
            <Reactions comment={comment} target={target} />
          </>
        )}
      </div>
    </article>
  )
}

const copyLink = async (url: string) => (await copy(url)) && showToast('Link copied')

function CommentMenu({ comment, target, onEdit }: { comment: Comment; target: Target; onEdit: () => void }) {
  const { user, isManager } = useMe()
  const [deleting, setDeleting] = useState(false)
  const isOwn = comment.author_id === user.id
  return (
    <>
      <Menu
        label="Comment actions"
        trigger={<IconButton label="Comment actions" icon={Ellipsis} className="-mr-1.5" />}
        items={[
          { label: 'Copy link', icon: LinkIcon, onPick: () => void copyLink(comment.url) },
          ...(isOwn ? [{ label: 'Edit', icon: Pencil, onPick: onEdit }] : []),
          ...(isOwn || isManager
            ? [null, { label: 'Delete…', icon: Trash2, danger: true, onPick: () => setDeleting(true) }]
            : []),
        ]}
      />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this comment?"
        action="Delete"
        onConfirm={async () => {
          await api.deleteComment({ comment_id: comment.id })
          putComment(comment.id, target.targetId, null)
        }}
      >
        <p>
          {comment.parent_comment_id ? '' : 'Its replies are deleted too. '}
          This cannot be undone.
        </p>
      </Confirm>
    </>
  )
}
