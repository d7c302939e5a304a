import { Component, lazy, type ReactNode, Suspense } from 'react'
import { isTooComplex } from './markdown-complexity.ts'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Untrusted Markdown of people and agents. Shows the plain text while the renderer loads. */
export function Markdown({ text }: { text: string }) {
  const plain = <div className="prose whitespace-pre-wrap">{text}</div>
  if (isTooComplex(text)) return plain
  return (
    <PlainIfFailed key={text} plain={plain}>
      <Suspense fallback={plain}>
        <Rendered text={text} />
      </Suspense>
    </PlainIfFailed>
  )
}

/** Error boundary: an error of the renderer affects only this text. */
class PlainIfFailed extends Component<{ plain: ReactNode; children: ReactNode }> {
  override state = { failed: false }
  static getDerivedStateFromError = () => ({ failed: true })
  override render = () => (this.state.failed ? this.props.plain : this.props.children)
}
