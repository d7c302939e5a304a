import { Component, lazy, type ReactNode, Suspense } from 'react'
import { isTangled } from './markdown-tangled.ts'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Markdown of people and agents. While the renderer loads, the text itself stands there. */
export function Markdown({ text }: { text: string }) {
  const plain = <div className="prose whitespace-pre-wrap">{text}</div>
  if (isTangled(text)) return plain
  return (
    <OrPlain key={text} plain={plain}>
      <Suspense fallback={plain}>
        <Rendered text={text} />
      </Suspense>
    </OrPlain>
  )
}

/** A text that no renderer can handle takes nothing else down with it. */
class OrPlain extends Component<{ plain: ReactNode; children: ReactNode }> {
  override state = { failed: false }
  static getDerivedStateFromError = () => ({ failed: true })
  override render = () => (this.state.failed ? this.props.plain : this.props.children)
}
