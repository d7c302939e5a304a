import type { Issue } from '@baton/protocol'
import { useMemo } from 'react'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { diffLines, type Shown, withContext } from '../../ui/diff.ts'
import { saveDescription } from '../edit/description.ts'

interface Props {
  issue: Issue
  from: string
  to: string
}

const looks: Record<Shown['kind'], string> = {
  same: 'text-ink-2',
  added: 'bg-ok-wash text-ok-ink',
  removed: 'bg-bad-wash text-bad-ink',
  skipped: 'text-ink-3',
}
const signs: Record<Shown['kind'], string> = { same: ' ', added: '+', removed: '−', skipped: ' ' }
const words: Record<Shown['kind'], string> = { same: '', added: 'Added: ', removed: 'Removed: ', skipped: '' }

/** What a change did to the description, and a button that restores the text before it. */
export default function DescriptionDiff({ issue, from, to }: Props) {
  const lines = useMemo(() => withContext(diffLines(from, to)), [from, to])
  const restore = () => void saveDescription(issue, from, 'Description restored')
  return (
    <div className="mx-3.5 mt-1 overflow-hidden rounded border bg-surface">
      <ol aria-label="Changed lines" className="max-h-80 overflow-auto py-1 font-mono text-xs">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a change never change
          <li key={index} className={cx('flex gap-2 px-2 whitespace-pre-wrap', looks[line.kind])}>
            <span aria-hidden className="select-none">
              {signs[line.kind]}
            </span>
            <span className="min-w-0 break-words">
              <span className="sr-only">{words[line.kind]}</span>
              {line.kind === 'skipped' ? `${line.count} unchanged ${line.count === 1 ? 'line' : 'lines'}` : line.text}
            </span>
          </li>
        ))}
      </ol>
      <div className="flex items-center gap-2 border-t px-2 py-1.5">
        <Button size="sm" onClick={restore} disabled={issue.description === from}>
          Restore
        </Button>
        <span className="text-xs text-ink-3">
          {issue.description === from ? 'This is the description now.' : 'Saves the text before this change again.'}
        </span>
      </div>
    </div>
  )
}
