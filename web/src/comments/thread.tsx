import type { Comment } from '@baton/protocol'
import { mentionPattern } from '@baton/protocol/mentions'
import { CircleCheck, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { putComment, type Target } from '../data/comments.ts'
import { IconButton } from '../ui/button.tsx'
import { closeComposer, openComposer, useIsComposerOpen } from '../ui/open-composer.ts'
import { showError } from '../ui/toast.tsx'
import { useAuthor } from './author.ts'
import { CommentBody, useIsLinked } from './comment-body.tsx'
import { Composer } from './composer.tsx'

interface Props {
  root: Comment
  replies: Comment[]
  target: Target
}

/** A comment with its replies. A resolved thread is collapsed to one line. */
export function Thread({ root, replies, target }: Props) {
  const isLinked = useIsLinked([root, ...replies])
  const [open, setOpen] = useState(false)
  const draftKey = `reply ${root.id}`
  const replying = useIsComposerOpen(draftKey)
  if (root.is_resolved && !open && !isLinked) {
    return <Collapsed root={root} replies={replies} onOpen={() => setOpen(true)} />
  }
  return (
    <div className="divide-y overflow-hidden rounded-lg border bg-surface shadow-card">
      <CommentBody comment={root} target={target} actions={<Resolve root={root} target={target} />} />
      {replies.map((reply) => (
        <CommentBody key={reply.id} comment={reply} target={target} />
      ))}
      <div className="px-2 py-1.5">
        {replying ? (
          <Composer
            target={target}
            draftKey={draftKey}
            label="Reply"
            placeholder="Reply…"
            action="Reply"
            internal={root.internal}
            autoFocus
            onCancel={() => closeComposer(draftKey)}
            onSend={async (text) => {
              const { targetType, targetId } = target
              const reply = await api.createComment({
                target_type: targetType,
                target_id: targetId,
                parent_comment_id: root.id,
                text,
              })
              putComment(reply.id, targetId, reply)
              closeComposer(draftKey)
            }}
          />
        ) : (
          <button
            type="button"
            onClick={() => openComposer(draftKey)}
            className="h-7 w-full rounded px-2 text-left text-ink-3 hover:bg-hover hover:text-ink-2"
          >
            Reply…
          </button>
        )}
      </div>
    </div>
  )
}

/** Optimistic: reverted if the server refuses. */
function Resolve({ root, target }: { root: Comment; target: Target }) {
  const resolve = async () => {
    const is_resolved = !root.is_resolved
    putComment(root.id, target.targetId, { ...root, is_resolved })
    try {
      putComment(root.id, target.targetId, await api.updateComment({ comment_id: root.id, is_resolved }))
    } catch (error) {
      putComment(root.id, target.targetId, root)
      showError(error)
    }
  }
  return root.is_resolved ? (
    <IconButton label="Reopen thread" icon={RotateCcw} onClick={() => void resolve()} />
  ) : (
    <IconButton label="Resolve thread" icon={CircleCheck} onClick={() => void resolve()} />
  )
}

function Collapsed({ root, replies, onOpen }: { root: Comment; replies: Comment[]; onOpen: () => void }) {
  const { name } = useAuthor(root.author_id)
  const [line = ''] = root.text.replace(mentionPattern, '@$1').split('\n')
  return (
    <button
      type="button"
      aria-expanded={false}
      onClick={onOpen}
      className="flex h-9 w-full items-center gap-2 rounded-lg border px-3.5 text-left text-ink-3 hover:bg-hover"
    >
      <CircleCheck size={14} aria-hidden className="shrink-0 text-ok" />
      <span className="shrink-0">Resolved</span>
      <span className="min-w-0 flex-1 truncate">
        <bdi>{name}</bdi>: {line}
      </span>
      {replies.length > 0 && (
        <span className="tabular shrink-0 text-xs">
          {replies.length} {replies.length === 1 ? 'reply' : 'replies'}
        </span>
      )}
    </button>
  )
}
