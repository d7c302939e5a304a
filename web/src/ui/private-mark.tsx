import { Lock } from 'lucide-react'

/** Marks a private item in a list. */
export const PrivateMark = () => (
  <span title="Private" className="flex shrink-0 text-ink-3">
    <Lock size={12} aria-hidden />
    <span className="sr-only">private</span>
  </span>
)
