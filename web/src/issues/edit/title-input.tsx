import type { Issue } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useState } from 'react'
import { editIssues } from './edit.ts'

/** Edits the title in place. Enter and blur save it, Escape discards. */
export function TitleInput({ issue, onDone }: { issue: Issue; onDone: () => void }) {
  const [title, setTitle] = useState(issue.title)
  const [left, setLeft] = useState(false)
  const leave = (keep: boolean) => {
    if (left) return
    setLeft(true)
    const wanted = title.trim()
    if (keep && wanted && wanted !== issue.title)
      void editIssues([issue.id], { title: wanted }, `${issue.code} renamed`)
    onDone()
  }
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it is shown by the Rename command
      autoFocus
      aria-label={`Title of ${issue.code}`}
      maxLength={limits.title}
      value={title}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => setTitle(event.target.value)}
      onBlur={() => leave(true)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
        event.preventDefault()
        event.stopPropagation()
        leave(event.key === 'Enter')
      }}
      className="h-6 w-full rounded-sm border border-accent bg-surface px-1 outline-none"
    />
  )
}
