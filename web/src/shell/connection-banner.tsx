import { WifiOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useConnection } from '../data/live.ts'

/** Says when what is on the screen may no longer be true. */
export function ConnectionBanner() {
  const connection = useConnection()
  const [online, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const look = () => setOnline(navigator.onLine)
    addEventListener('online', look)
    addEventListener('offline', look)
    return () => {
      removeEventListener('online', look)
      removeEventListener('offline', look)
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
        ? 'The connection to the server is lost. Trying again; what you see may be out of date.'
        : 'You are offline. What you see may be out of date, and changes cannot be saved.'}
    </div>
  )
}
