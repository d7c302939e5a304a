import type { ChangedFile } from '@baton/protocol'
import { ChevronRight, Folder } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { cx } from '../../ui/class-names.ts'
import { shownNodes, type TreeNode } from './tree.ts'
import { Visible } from './visible.tsx'

interface Props {
  nodes: readonly TreeNode<ChangedFile>[]
  current: string | null
  onOpen: (path: string) => void
}

const letters: Record<ChangedFile['status'], { letter: string; word: string; color: string }> = {
  added: { letter: 'A', word: 'added', color: 'text-ok-ink' },
  modified: { letter: 'M', word: 'modified', color: 'text-warn-ink' },
  deleted: { letter: 'D', word: 'deleted', color: 'text-bad-ink' },
  renamed: { letter: 'R', word: 'renamed', color: 'text-info-ink' },
  type_changed: { letter: 'T', word: 'type changed', color: 'text-info-ink' },
}

/** Deeper folders are not indented further, so that names stay readable. */
const deepestIndent = 8

/** The changed files by folder. Arrow keys move in it, Enter opens a file. */
export function FileTree({ nodes, current, onOpen }: Props) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set())
  const shown = shownNodes(nodes, collapsed)
  const toggle = (path: string, close = !collapsed.has(path)) => {
    const next = new Set(collapsed)
    if (close) next.add(path)
    else next.delete(path)
    setCollapsed(next)
  }
  const choose = (node: TreeNode<ChangedFile>) => (node.kind === 'file' ? onOpen(node.path) : toggle(node.path))
  const pressed = (event: KeyboardEvent<HTMLElement>) => {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')]
    const at = items.indexOf(document.activeElement as HTMLElement)
    const node = shown[at]
    if (!node) return
    const go = (index: number) => items[Math.max(0, Math.min(items.length - 1, index))]?.focus()
    switch (event.key) {
      case 'ArrowDown':
        go(at + 1)
        break
      case 'ArrowUp':
        go(at - 1)
        break
      case 'Home':
        go(0)
        break
      case 'End':
        go(items.length - 1)
        break
      case 'ArrowRight':
      case 'ArrowLeft':
        if (node.kind === 'folder') toggle(node.path, event.key === 'ArrowLeft')
        break
      case 'Enter':
      case ' ':
        choose(node)
        break
      default:
        return
    }
    event.preventDefault()
  }
  const reachable = shown.some(({ path }) => path === current) ? current : shown[0]?.path
  return (
    <div role="tree" aria-label="Changed files" onKeyDown={pressed} className="changes-tree">
      {shown.map((node) => {
        const isFolder = node.kind === 'folder'
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its items
          <div
            key={`${node.kind} ${node.path}`}
            role="treeitem"
            aria-level={node.depth + 1}
            aria-selected={node.path === current && !isFolder}
            {...(isFolder && { 'aria-expanded': !collapsed.has(node.path) })}
            tabIndex={node.path === reachable ? 0 : -1}
            style={{ paddingLeft: 8 + 12 * Math.min(node.depth, deepestIndent) }}
            onClick={() => choose(node)}
          >
            {isFolder ? (
              <>
                <ChevronRight
                  size={13}
                  aria-hidden
                  className={cx('shrink-0 text-ink-3', !collapsed.has(node.path) && 'rotate-90')}
                />
                <Folder size={13} aria-hidden className="shrink-0 text-ink-3" />
              </>
            ) : (
              <Letter status={node.file.status} />
            )}
            <span className="name">
              <Visible text={node.name} />
            </span>
          </div>
        )
      })}
    </div>
  )
}

export const Letter = ({ status }: { status: ChangedFile['status'] }) => {
  const { letter, word, color } = letters[status]
  return (
    <span title={word} className={cx('w-4 shrink-0 text-center font-mono text-xs', color)}>
      <span aria-hidden>{letter}</span>
      <span className="sr-only">{word}</span>
    </span>
  )
}
