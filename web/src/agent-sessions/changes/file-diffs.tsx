import type { ChangedFile, OmittedReason } from '@baton/protocol'
import { ChevronRight } from 'lucide-react'
import { type KeyboardEvent, memo, type RefObject, useEffect, useMemo, useState } from 'react'
import { counted } from '../../ui/amounts.ts'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { DiffLines } from './diff-lines.tsx'
import { Letter } from './file-tree.tsx'
import { createNearObserver, NearContext } from './near.tsx'
import { type Patch, parsePatch } from './parse-patch.ts'
import { Visible } from './visible.tsx'
import { visibleText } from './visible-text.ts'

/** Longer files are folded until the reader opens them. */
const foldedOverLines = 400

interface Props {
  ref: RefObject<HTMLElement | null>
  files: readonly ChangedFile[]
  /** All changed files, also those that are not in `files`. */
  total: number
  isSplit: boolean
  /** The path of the file at the top, while the reader scrolls. */
  onCurrent: (path: string) => void
  /** Null if no message can be sent. */
  onQuote: ((text: string) => void) | null
}

/** The patches of all files, one below the other. Only lines near the visible part are rendered. */
export function FileDiffs({ ref, files, total, isSplit, onCurrent, onQuote }: Props) {
  const [root, setRoot] = useState<HTMLElement | null>(null)
  const observer = useMemo(() => root && createNearObserver(root), [root])
  useEffect(() => {
    ref.current = root
    if (!root) return
    const scrolled = () => {
      const path = files[fileAt(root)]?.path
      if (path !== undefined) onCurrent(path)
    }
    root.addEventListener('scroll', scrolled, { passive: true })
    return () => root.removeEventListener('scroll', scrolled)
  }, [ref, root, files, onCurrent])
  return (
    <section
      ref={setRoot}
      aria-label="Changes"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      onKeyDown={moveBetweenLines}
      className="changes-files"
    >
      <NearContext value={observer}>
        {observer &&
          files.map((file, index) => (
            <File key={file.path} file={file} index={index} isSplit={isSplit} onQuote={onQuote} />
          ))}
      </NearContext>
      {total > files.length && (
        <p className="p-4 text-ink-2">
          {counted(total - files.length, 'more changed file')} {total - files.length === 1 ? 'is' : 'are'} not listed
          here.
        </p>
      )}
    </section>
  )
}

/** The index of the last file that begins at or above the top of the visible part. */
function fileAt(root: HTMLElement): number {
  const sections = root.querySelectorAll<HTMLElement>(':scope > [data-file]')
  let low = 0
  let high = sections.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    // Rounded positions can be one pixel off.
    if ((sections[middle]?.offsetTop ?? 0) <= root.scrollTop + 2) low = middle
    else high = middle - 1
  }
  return low
}

/** One line number of each file is reached with Tab; from there, the arrow keys go to the others. */
function moveBetweenLines(event: KeyboardEvent<HTMLElement>) {
  const from = event.target instanceof HTMLElement ? event.target : null
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (!from?.dataset.line || step === 0) return
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>(`[data-line="${from.dataset.line}"]`)]
  lines[lines.indexOf(from) + step]?.focus()
  event.preventDefault()
}

interface FileProps {
  file: ChangedFile
  index: number
  isSplit: boolean
  onQuote: Props['onQuote']
}

const File = memo(function File({ file, index, isSplit, onQuote }: FileProps) {
  const { path, old_path, patch: text, additions, deletions } = file
  const patch = useMemo(() => (text === null ? null : parsePatch(text, { path, old_path })), [text, path, old_path])
  const lines = patch?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) ?? 0
  const isLong = lines > foldedOverLines
  const [isOpen, setOpen] = useState<boolean | null>(null)
  const [isUnfolded, setUnfolded] = useState(false)
  const open = isOpen ?? true
  return (
    <section data-file={index} aria-label={visibleText(path)}>
      <h2>
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronRight size={14} aria-hidden className={cx('shrink-0 text-ink-3', open && 'rotate-90')} />
          <Letter status={file.status} />
          <span className="path">
            {old_path !== null && old_path !== path && (
              <span className="text-ink-2">
                <Visible text={old_path} /> →{' '}
              </span>
            )}
            <Visible text={path} />
          </span>
          {additions !== null && <span className="text-ok-ink">+{additions.toLocaleString('en')}</span>}
          {deletions !== null && <span className="text-bad-ink">-{deletions.toLocaleString('en')}</span>}
        </button>
      </h2>
      {open && <Notes file={file} patch={patch} />}
      {open && patch && lines > 0 && isLong && !isUnfolded && (
        <p className="note">
          <Button size="sm" onClick={() => setUnfolded(true)}>
            Show {counted(lines, 'line')}
          </Button>
        </p>
      )}
      {open && patch && (!isLong || isUnfolded) && (
        <DiffLines patch={patch} file={file} isSplit={isSplit} onQuote={onQuote} />
      )}
    </section>
  )
})

const omitted: Record<OmittedReason, string> = {
  binary: 'Binary file: its content is not shown.',
  too_large: 'Too large to be shown here.',
  encoding: 'Not shown: the text is not UTF-8.',
  redacted: 'Not shown: it contains a secret.',
  submodule: 'Submodule: only its commit changed.',
}

const modes: Record<string, string> = {
  '100644': 'regular file',
  '100755': 'executable file',
  '120000': 'symbolic link',
}
const modeOf = (mode: string) => modes[mode] ?? `file with mode ${mode}`

/** What the lines do not show: why there are none, and a changed mode. */
function Notes({ file, patch }: { file: ChangedFile; patch: Patch | null }) {
  const { oldMode, newMode, hunks } = patch ?? { oldMode: null, newMode: null, hunks: [] }
  const notes = [
    file.omitted && omitted[file.omitted],
    oldMode && newMode && `Changed from ${modeOf(oldMode)} to ${modeOf(newMode)}.`,
    newMode && !oldMode && newMode !== '100644' && `New ${modeOf(newMode)}.`,
    patch && hunks.length === 0 && (file.status === 'added' || file.status === 'deleted') && 'Empty file.',
    patch && hunks.length === 0 && file.status === 'renamed' && 'Renamed without changes.',
  ].filter((note) => typeof note === 'string')
  return notes.map((note) => (
    <p key={note} className="note">
      {note}
    </p>
  ))
}
