import type { File as StoredFile } from '@baton/protocol'
import { FileText, Image as ImageIcon, Trash2, Video } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api } from '../data/api.ts'
import { contentUrl } from '../data/files.ts'
import { useMe } from '../data/me.ts'
import { usePeople } from '../data/workspaces.ts'
import { IconButton } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { sizeText } from '../ui/file-access.ts'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'

const iconOf = (type: string) => (type.startsWith('image/') ? ImageIcon : type.startsWith('video/') ? Video : FileText)

interface Props {
  files: readonly StoredFile[]
  /** After a file was deleted. */
  onChange: () => unknown
}

export function FileRows({ files, onChange }: Props) {
  const { user, isManager } = useMe()
  const people = usePeople()
  const [deleting, setDeleting] = useState<StoredFile | null>(null)
  return (
    <>
      <ul className="-mx-2">
        {files.map((file) => {
          const Icon = iconOf(file.media_type)
          return (
            <li key={file.id} className="group/line flex min-h-8 items-center gap-2 rounded px-2 hover:bg-hover">
              <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
              <a
                href={contentUrl(file.id)}
                target="_blank"
                rel="noreferrer"
                className="min-w-0 truncate hover:underline"
              >
                <bdi>{file.name}</bdi>
              </a>
              <span className="tabular shrink-0 text-xs text-ink-3">{sizeText(file.bytes)}</span>
              <span className="flex-1" />
              <span className="shrink-0 text-xs text-ink-3 max-md:hidden">
                {people.get(file.uploader_id ?? '')?.display_name} <Time at={file.created_at} />
              </span>
              {(isManager || file.uploader_id === user.id) && (
                <IconButton
                  label={`Delete ${file.name}`}
                  icon={Trash2}
                  onClick={() => setDeleting(file)}
                  className="opacity-0 group-hover/line:opacity-100 focus-visible:opacity-100 max-md:opacity-100"
                />
              )}
            </li>
          )
        })}
      </ul>
      <Confirm
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete ${deleting?.name ?? 'file'}`}
        action="Delete file"
        onConfirm={async () => {
          if (deleting) await api.deleteFile({ file_id: deleting.id })
          showToast('File deleted')
          await onChange()
        }}
      >
        Texts that show it will say that it is missing. This cannot be undone.
      </Confirm>
    </>
  )
}

/** The files of an issue or project; nothing without any. */
export function FileSection({ actions, ...props }: Props & { actions?: ReactNode }) {
  if (props.files.length === 0) return null
  return (
    <section aria-label="Files" className="border-t pt-1">
      <div className="flex h-7 items-center gap-2">
        <h2 className="text-xs font-medium text-ink-2">Files</h2>
        <span className="tabular text-xs text-ink-3">{props.files.length}</span>
        {actions}
      </div>
      <FileRows {...props} />
    </section>
  )
}
