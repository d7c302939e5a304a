import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { showToast } from './toast.tsx'

/** Resolves to whether the browser allowed it; shows a message if not. */
export const copy = async (text: string) => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    showToast('The browser did not allow copying. Select the text and copy it manually.', { tone: 'bad' })
    return false
  }
}

function useCopied(text: string) {
  const [copied, setCopied] = useState(false)
  const run = async () => {
    if (!(await copy(text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return { copied, run }
}

interface CopyProps {
  text: string
  label: string
  autoFocus?: boolean
}

function CopyButton({ text, label, ...rest }: CopyProps) {
  const { copied, run } = useCopied(text)
  return (
    <IconButton label={copied ? 'Copied' : label} icon={copied ? Check : Copy} onClick={() => void run()} {...rest} />
  )
}

/** A value on one line with a copy button. */
export const Copyable = ({ text, label, ...rest }: CopyProps) => (
  <div className="flex items-center gap-1 rounded border bg-sunken pl-2.5">
    <code className="min-w-0 flex-1 truncate font-mono text-xs">{text}</code>
    <CopyButton text={text} label={`Copy ${label}`} {...rest} />
  </div>
)

export function CopyTextButton({ text, children }: { text: string; children: string }) {
  const { copied, run } = useCopied(text)
  return (
    <Button icon={copied ? Check : Copy} onClick={() => void run()}>
      {copied ? 'Copied' : children}
    </Button>
  )
}

/** Preformatted text with a copy button, such as a request body. */
export const Block = ({ text, label }: { text: string; label: string }) => (
  <div className="relative rounded border bg-sunken">
    <div className="absolute top-1 right-1">
      <CopyButton text={text} label={`Copy ${label}`} />
    </div>
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-96 overflow-auto p-3 pr-10 font-mono text-xs leading-4.5 whitespace-pre-wrap wrap-anywhere"
    >
      {text}
    </pre>
  </div>
)
