import { Paperclip, RotateCw, X } from 'lucide-react'
import { type ClipboardEvent, type DragEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { IconButton } from './button.tsx'
import { type StoredFile, sizeText, useFileAccess } from './file-access.ts'
import { messageOf } from './problem.ts'

interface Attachment {
  key: number
  file: File
  /** From 0 to 1. */
  share: number
  problem: string | null
}

let lastKey = 0

/** How a text refers to the file; brackets would end the name. */
const referenceTo = ({ id, name, media_type }: StoredFile) =>
  `${media_type.startsWith('image/') ? '!' : ''}[${name.replace(/[[\]\\\n]/g, '') || 'file'}](${id})`

/**
 * Uploads files that are pasted into a text area, dropped on it or picked, and writes a reference to each into the text.
 * A failed upload can be repeated; the text stays as it is.
 */
export function useAttachments(ref: RefObject<HTMLTextAreaElement | null>, onText: (text: string) => void) {
  const access = useFileAccess()
  const [items, setItems] = useState<readonly Attachment[]>([])
  const running = useRef(new Map<number, AbortController>())
  const write = useRef(onText)
  write.current = onText
  useEffect(() => {
    const all = running.current
    // A file that misses the text must not replace the page.
    const ignore = (event: globalThis.DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
    }
    window.addEventListener('dragover', ignore)
    window.addEventListener('drop', ignore)
    return () => {
      window.removeEventListener('dragover', ignore)
      window.removeEventListener('drop', ignore)
      for (const one of all.values()) one.abort()
    }
  }, [])
  if (!access || access.maxBytes === null) return none
  const { maxBytes } = access

  const update = (key: number, change: Partial<Attachment>) =>
    setItems((all) => all.map((one) => (one.key === key ? { ...one, ...change } : one)))
  const remove = (key: number) => {
    running.current.get(key)?.abort()
    setItems((all) => all.filter((one) => one.key !== key))
  }
  const insert = (text: string) => {
    const area = ref.current
    if (!area) return
    const at = area.selectionEnd
    const before = area.value.slice(0, at)
    const gap = before === '' || /\s$/.test(before) ? '' : ' '
    write.current(`${before}${gap}${text}${area.value.slice(at)}`)
    const caret = at + gap.length + text.length
    requestAnimationFrame(() => area.setSelectionRange(caret, caret))
  }
  const start = async ({ key, file }: Attachment) => {
    const abort = new AbortController()
    running.current.set(key, abort)
    update(key, { share: 0, problem: null })
    try {
      if (file.size > maxBytes) throw new Error(`It has ${sizeText(file.size)}; the limit is ${sizeText(maxBytes)}.`)
      insert(referenceTo(await access.upload(file, (share) => update(key, { share }), abort.signal)))
      remove(key)
    } catch (error) {
      if (!abort.signal.aborted) update(key, { problem: messageOf(error) })
    } finally {
      running.current.delete(key)
    }
  }
  const add = (files: Iterable<File>) => {
    const added = [...files].map((file) => ({ key: ++lastKey, file, share: 0, problem: null }))
    setItems((all) => [...all, ...added])
    for (const one of added) void start(one)
  }
  return {
    busy: items.some(({ problem }) => problem === null),
    handlers: {
      onPaste: (event: ClipboardEvent) => {
        const { files, types } = event.clipboardData
        // Spreadsheets put a picture next to the text that is meant.
        if (files.length === 0 || types.includes('text/plain')) return
        event.preventDefault()
        add(files)
      },
      onDragOver: (event: DragEvent) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault()
      },
      onDrop: (event: DragEvent) => {
        if (event.dataTransfer.files.length === 0) return
        event.preventDefault()
        add(event.dataTransfer.files)
      },
    },
    button: <PickFiles onPick={add} />,
    list: items.length > 0 && (
      <ul aria-label="Uploads" className="space-y-1 px-3 pb-1">
        {items.map((item) => (
          <Upload key={item.key} item={item} onRetry={() => void start(item)} onRemove={() => remove(item.key)} />
        ))}
      </ul>
    ),
  }
}

const none = { busy: false, handlers: {}, button: null, list: null }

export function PickFiles({ onPick }: { onPick: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          const files = [...(event.target.files ?? [])]
          // The same file can be picked again.
          event.target.value = ''
          onPick(files)
        }}
      />
      <IconButton label="Attach files" icon={Paperclip} onClick={() => input.current?.click()} />
    </>
  )
}

function Upload({ item, onRetry, onRemove }: { item: Attachment; onRetry: () => void; onRemove: () => void }) {
  const { file, share, problem } = item
  return (
    <li className="flex items-center gap-2 text-xs">
      <span className="min-w-0 truncate">
        <bdi>{file.name}</bdi>
      </span>
      {problem === null ? (
        <progress
          value={share}
          max={1}
          aria-label={`Uploading ${file.name}`}
          className="h-1.5 w-24 shrink-0 accent-(--accent)"
        />
      ) : (
        <>
          <span role="alert" className="min-w-0 text-bad-ink">
            Not uploaded. {problem}
          </span>
          <IconButton label={`Retry ${file.name}`} icon={RotateCw} onClick={onRetry} />
        </>
      )}
      <IconButton label={`Remove ${file.name}`} icon={X} onClick={onRemove} />
    </li>
  )
}
