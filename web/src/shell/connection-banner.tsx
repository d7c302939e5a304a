import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useConnection } from '../data/live.ts'

/** Shown while the data on the screen may be out of date. */
export function ConnectionBanner() {
  const connection = useConnection()
  const [online, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const update = () => setOnline(navigator.onLine)
    addEventListener('online', update)
    addEventListener('offline', update)
    return () => {
      removeEventListener('online', update)
      removeEventListener('offline', update)
    }
  }, [])
  if (online && connection !== 'lost') return null
  return (
    <div
      role="status"
      className="flex shrink-0 items-center justify-center gap-2 border-b bg-warn-wash px-4 py-1.5 text-xs text-warn-ink"
    >
      <WifiOff size={13} aria-hidden />
      {online
        ? 'Connection lost, reconnecting. The data shown may be out of date.'
        : 'You are offline. The data shown may be out of date, and changes cannot be saved.'}
    </div>
  )
}
