import { createStore, useStore } from './store.ts'

/** A file as it is after its upload. */
export interface StoredFile {
  id: string
  name: string
  media_type: string
}

export interface FileAccess {
  /** The address of a file's content. */
  url: (id: string) => string
  /** The largest file; null if the instance has no place for files. */
  maxBytes: number | null
  upload: (file: File, onProgress: (share: number) => void, aborted: AbortSignal) => Promise<StoredFile>
}

/** How texts show and upload files; data/files.ts sets it. */
export const fileAccess = createStore<FileAccess | null>(null)

export const useFileAccess = () => useStore(fileAccess)

const units = ['bytes', 'KB', 'MB', 'GB'] as const

/** "48 KB", "1.2 MB", by powers of 1024, as limits are set. */
export function sizeText(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${amount.toLocaleString('en', { maximumFractionDigits: amount < 10 && power > 0 ? 1 : 0 })} ${units[power]}`
}
