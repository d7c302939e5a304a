import { ImageOff } from 'lucide-react'
import { type ComponentProps, memo } from 'react'
import ReactMarkdown from 'react-markdown'
import rehypeSanitize, { defaultSchema } from 'rehype-sanitize'
import remarkGfm from 'remark-gfm'

/** `@[Name](usr_…)` is a mention; as Markdown it is a link with that address. */
const mention = /^usr_[0-9a-hjkmnp-tv-z]{26}$/

const schema = {
  ...defaultSchema,
  // Pictures are shown as links: loading one would tell its host who reads what.
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['input', 'picture', 'source'].includes(name)),
  protocols: { ...defaultSchema.protocols, href: ['http', 'https', 'mailto'] },
}

/** Ours stay; others say where they lead. */
function Link({ href = '', children }: ComponentProps<'a'>) {
  if (mention.test(href))
    return <span className="rounded bg-accent-wash px-1 font-medium text-accent-ink">{children}</span>
  const url = URL.canParse(href, location.origin) ? new URL(href, location.origin) : null
  if (!url || !/^(https?|mailto):$/.test(url.protocol)) return <span>{children}</span>
  if (url.origin === location.origin) return <a href={url.pathname + url.search + url.hash}>{children}</a>
  const host = url.protocol === 'mailto:' ? url.pathname : url.host
  const said = typeof children === 'string' && children.includes(host)
  return (
    <a href={url.href} target="_blank" rel="noreferrer noopener nofollow">
      {children}
      {!said && <span className="ml-1 text-xs text-ink-3 no-underline">({host})</span>}
    </a>
  )
}

const Picture = ({ src = '', alt }: ComponentProps<'img'>) => (
  <span className="inline-flex items-center gap-1 rounded border bg-sunken px-1.5 text-xs">
    <ImageOff size={12} aria-hidden />
    <Link href={typeof src === 'string' ? src : ''}>{alt || 'picture'}</Link>
  </span>
)

function Rendered({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[[rehypeSanitize, schema]]}
        urlTransform={(url) => url}
        components={{ a: Link, img: Picture }}
      >
        {text.replace(/@\[((?:[^\]\\]|\\.)*)\]\((usr_[0-9a-z]{26})\)/g, '[@$1]($2)')}
      </ReactMarkdown>
    </div>
  )
}

export default memo(Rendered)
